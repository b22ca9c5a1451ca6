-- Direct jobs. A job to few users is sent from its entry: whoever has that sends the job. Until it has ended nothing else of it
-- stands in Redis but its name, as a reserved job's does, and its record is written once. What lasts, or brings more than
-- counts, is admitted after all (admit, `begun`), and goes on as a chunk. If its worker dies, the entry goes to another.

do

-- begin_direct — ARGV: consumer, then (priority, entry, app, id, digest)…. Takes the names of jobs that the caller is going to send.
-- Reply: for each NEW | CANCELLED (an operator has paused or cancelled it while it waited: admit it) | DUPLICATE (the entry is
-- dropped) | CONFLICT (refuse it) | STALE
local function begin_direct(keys, args)
  local p, consumer, now = keys[1], args[1], now_ms()
  local answers, has = {}, {}
  for i = 2, #args, 5 do
    local priority, entry, app, id, digest = unpack(args, i, i + 4)
    if not has[priority] then has[priority] = owned_by(KEY.jobs(p, priority), consumer) end
    local answer, state = 'STALE', nil
    if has[priority](entry) then
      answer, state = Jobs.take_name(p, priority, entry, app, id, digest, now, true)
      if answer == 'DUPLICATE' then Fairness.drop_job(p, priority, entry) end
      if answer == 'NEW' and (state == 'paused' or state == 'cancelled') then answer = 'CANCELLED' end
    end
    answers[#answers + 1] = answer
  end
  return answers
end

local OUTCOMES = {'accepted', 'rejected', 'uninstalled', 'expired', 'skipped', 'failed'}

-- Writes the record of a job that has ended, and tells of it. sums: its outcomes, by name.
local function write_record(p, app, id, state, created_at, started_at, now, total, no_installations, sums, retention)
  local key, done = KEY.job(p, app, id), state == 'cancelled' and 'cancelled' or 'done'
  local fields = {'state', done, 'admitted', '1', 'total', total, 'started_at', started_at, 'finished_at', text(now)}
  local notice = {'app', app, 'id', id, 'state', done, 'total', total}
  local function add(name, n)
    notice[#notice + 1], notice[#notice + 2] = name, n
    if n ~= '0' then fields[#fields + 1], fields[#fields + 2] = name, n end
  end
  for _, outcome in ipairs(OUTCOMES) do add(outcome, text(sums[outcome] or 0)) end
  add('pending', '0')
  add('no_installations', no_installations)
  add('retries', '0')
  for _, word in ipairs({'created_at', created_at, 'started_at', started_at, 'finished_at', text(now)}) do
    notice[#notice + 1] = word
  end
  redis.call('HSET', key, unpack(fields))
  redis.call('EXPIRE', key, retention)
  redis.call('XADD', KEY.finished(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', unpack(notice))
end

-- The counts of a job, as {network, outcome, count…}, and their sums by outcome.
local function read_counts(words)
  local counts, sums = {}, {}
  for network, outcome, n in string.gmatch(words, '(%l+)|([%l_]+)|(%d+)') do
    local at = #counts
    counts[at + 1], counts[at + 2], counts[at + 3] = network, outcome, n
    sums[outcome] = (sums[outcome] or 0) + tonumber(n)
  end
  return counts, sums
end

-- What a call has to count of its jobs, added up: add(app, counts, tallies), and write() at its end.
local function new_books(p, now)
  local counted, tallied, books = {}, {}, {}
  function books.add(app, counts, tallies)
    counted[app] = counted[app] or {}
    for i = 1, #counts, 3 do
      local name = counts[i] .. '|' .. counts[i + 1]
      counted[app][name] = (counted[app][name] or 0) + tonumber(counts[i + 2])
    end
    for place, answers, misfits in string.gmatch(tallies, '(%l+|%l+)|(%d+)|(%d+)') do
      local name = app .. '|' .. place
      local tally = tallied[name] or {app = app, place = place, answers = 0, misfits = 0}
      tally.answers, tally.misfits = tally.answers + tonumber(answers), tally.misfits + tonumber(misfits)
      tallied[name] = tally
    end
  end
  function books.write()
    for app, sums in pairs(counted) do
      local counts = {}
      for name, n in pairs(sums) do
        local network, outcome = string.match(name, '^(.*)|(.*)$')
        local at = #counts
        counts[at + 1], counts[at + 2], counts[at + 3] = network, outcome, n
      end
      Metrics.count(p, app, counts, now)
    end
    for _, tally in pairs(tallied) do
      MassDeath.tally(p, tally.app, tally.place, tally.answers, tally.misfits, now)
    end
  end
  return books
end

-- end_direct — ARGV: consumer, then ten words for each job. Ends jobs that the caller has sent.
--   priority, entry, app, id
--   started_at: since when it was sent, ms
--   retention: how long its record is kept, s
--   total: installations that it came to
--   no_installations: users without any
--   counts: <network>|<outcome>|<count>, with spaces between
--   tallies: <network>|<environment>|<answers>|<misfits>, likewise
-- Reply: for each OK | STALE (it is another's by now: nothing was counted) | ADMIT (its counts do not add up)
local function end_direct(keys, args)
  local p, consumer, now = keys[1], args[1], now_ms()
  local answers, has, dropped, books = {}, {}, {}, new_books(p, now)
  refuse_wrong_type(KEY.finished(p), 'stream')
  for i = 2, #args, 10 do
    local priority, entry, app, id, started_at, retention, total, none, counts, tallies = unpack(args, i, i + 9)
    if not has[priority] then has[priority], dropped[priority] = owned_by(KEY.jobs(p, priority), consumer), {} end
    local r = redis.call('HMGET', KEY.job(p, app, id), 'state', 'source', 'created_at', 'admitted')
    local answer = 'STALE'
    if r[2] == source_of(priority, entry) then
      local outcomes, sums = read_counts(counts)
      local sum = 0
      for _, n in pairs(sums) do sum = sum + n end
      if r[4] then
        -- Told before, and the reply was lost.
        if r[1] == 'done' or r[1] == 'cancelled' then answer = 'OK' end
      elseif has[priority](entry) and sum ~= tonumber(total) then
        answer = 'ADMIT'
      elseif has[priority](entry) then
        answer = 'OK'
        write_record(p, app, id, r[1], r[3], started_at, now, total, none, sums, retention)
        books.add(app, outcomes, tallies)
        table.insert(dropped[priority], entry)
      end
    end
    answers[#answers + 1] = answer
  end
  for priority, entries in pairs(dropped) do Fairness.drop_jobs(p, priority, entries) end
  books.write()
  return answers
end

register('begin_direct', begin_direct)
register('end_direct', end_direct, {'allow-oom'})

end
