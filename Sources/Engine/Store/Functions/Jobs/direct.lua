-- Direct jobs. A job to few users is sent from its entry: whoever has that sends the job. Until it has ended nothing else of it
-- stands in Redis but its name, as a reserved job's does, and its record is written once. What lasts, or brings more than
-- counts, is admitted after all (admit, `begun`), and goes on as a chunk. If its worker dies, the entry goes to another.

do

-- Whether the consumer owns entries of the rows that it gives: by priority, a function of the entry.
local function job_owners(p, consumer, args, columns)
  local has = {}
  for priority, entries in pairs(entries_in(args, 2, columns)) do
    has[priority] = Fairness.job_owner(p, priority, consumer, entries)
  end
  return has
end

-- begin_direct — ARGV: consumer, then (priority, entry, app, id, digest)…. Takes the names of jobs that the caller is going to send.
-- Reply: for each NEW | CANCELLED (an operator has paused or cancelled it while it waited: admit it) | DUPLICATE (the entry is
-- dropped) | CONFLICT (refuse it) | STALE | an error, when Redis refuses this one: something else stands under its key
local function begin_direct(keys, args)
  local p, consumer, now = keys[1], args[1], now_ms()
  local answers, has, names = {}, job_owners(p, consumer, args, 5), {}
  for i = 2, #args, 5 do names[#names + 1] = KEY.job(p, args[i + 2], args[i + 3]) end
  -- Nearly always none of them is taken, which one question tells.
  local are_free, taken = redis.pcall('EXISTS', unpack(names)) == 0, {}
  for i = 2, #args, 5 do
    local priority, entry, app, id, digest = unpack(args, i, i + 4)
    local answer, state, name = 'STALE', nil, names[#answers + 1]
    if has[priority](entry) then
      local take = are_free and not taken[name] and Jobs.write_name or Jobs.take_name
      local is_possible
      is_possible, answer, state = pcall(take, p, priority, entry, app, id, digest, now, true)
      taken[name] = true
      if not is_possible then answer = redis.error_reply(type(answer) == 'table' and answer.err or tostring(answer)) end
      if answer == 'DUPLICATE' then Fairness.drop_job(p, priority, entry) end
      if answer == 'NEW' and (state == 'paused' or state == 'cancelled') then answer = 'CANCELLED' end
    end
    answers[#answers + 1] = answer
  end
  return answers
end

local OUTCOMES = {'accepted', 'rejected', 'uninstalled', 'expired', 'skipped', 'failed'}

-- The counts of a job, of <network>|<outcome>|<count>: {sum, of = counts by outcome, parts = {network, outcome, count}…}
local function read_counts(words)
  local found = {sum = 0, of = {}, parts = {}}
  for network, outcome, n in string.gmatch(words, '(%l+)|([%l_]+)|(%d+)') do
    found.parts[#found.parts + 1] = {network, outcome, tonumber(n)}
    found.of[outcome] = (found.of[outcome] or 0) + tonumber(n)
    found.sum = found.sum + tonumber(n)
  end
  return found
end

-- Returns read_counts that reads equal words once: most jobs of a call came to the same.
local function new_counts()
  local known = {}
  return function(words)
    local found = known[words]
    if not found then
      found = read_counts(words)
      known[words] = found
    end
    return found
  end
end

-- Returns write(app, id, state, created_at, started_at, retention, total, no_installations, counts), which writes the record of
-- a job that has ended, and tells of it. What jobs have in common is put together once.
local function new_records(p, now)
  local forms, finished, notices_max = {}, KEY.finished(p), text(LIMIT.NOTICES_MAX)
  local function form(total, none, counts)
    local fields = {'state', '', 'admitted', '1', 'total', total, 'started_at', '', 'finished_at', text(now)}
    local notice = {'app', '', 'id', '', 'state', '', 'total', total}
    local function add(name, n)
      notice[#notice + 1], notice[#notice + 2] = name, n
      if n ~= '0' then fields[#fields + 1], fields[#fields + 2] = name, n end
    end
    for _, outcome in ipairs(OUTCOMES) do add(outcome, text(counts.of[outcome] or 0)) end
    add('pending', '0')
    add('no_installations', none)
    add('retries', '0')
    local times = #notice
    for _, word in ipairs({'created_at', '', 'started_at', '', 'finished_at', text(now)}) do
      notice[#notice + 1] = word
    end
    return {fields = fields, notice = notice, times = times}
  end
  return function(app, id, state, created_at, started_at, retention, total, none, counts)
    local key, done = KEY.job(p, app, id), state == 'cancelled' and 'cancelled' or 'done'
    local name = total .. ' ' .. none
    forms[counts] = forms[counts] or {}
    forms[counts][name] = forms[counts][name] or form(total, none, counts)
    local common = forms[counts][name]
    local fields, notice, times = common.fields, common.notice, common.times
    fields[2], fields[8] = done, started_at
    notice[2], notice[4], notice[6], notice[times + 2], notice[times + 4] = app, id, done, created_at, started_at
    redis.call('HSET', key, unpack(fields))
    redis.call('EXPIRE', key, retention)
    redis.call('XADD', finished, 'MAXLEN', '~', notices_max, '*', unpack(notice))
  end
end

-- What a call has to count of its jobs, added up: add(app, counts, tallies), and write() at its end.
local function new_books(p, now, counts_of)
  local books, apps = {}, {}
  local function add(sums, words) sums[words] = (sums[words] or 0) + 1 end
  function books.add(app, counts, tallies)
    apps[app] = apps[app] or {counts = {}, tallies = {}}
    add(apps[app].counts, counts)
    add(apps[app].tallies, tallies)
  end
  local function write_counts(app, jobs_by_words)
    local places, counts = {}, {}
    for words, jobs in pairs(jobs_by_words) do
      for _, part in ipairs(counts_of(words).parts) do
        local name = part[1] .. '|' .. part[2]
        if not places[name] then
          counts[#counts + 1], counts[#counts + 2], counts[#counts + 3] = part[1], part[2], 0
          places[name] = #counts
        end
        counts[places[name]] = counts[places[name]] + jobs * part[3]
      end
    end
    Metrics.count(p, app, counts, now)
  end
  local function write_tallies(app, jobs_by_words)
    local answers, misfits = {}, {}
    for words, jobs in pairs(jobs_by_words) do
      for place, n, m in string.gmatch(words, '(%l+|%l+)|(%d+)|(%d+)') do
        answers[place] = (answers[place] or 0) + jobs * tonumber(n)
        misfits[place] = (misfits[place] or 0) + jobs * tonumber(m)
      end
    end
    for place, n in pairs(answers) do MassDeath.tally(p, app, place, n, misfits[place], now) end
  end
  function books.write()
    for app, sums in pairs(apps) do
      write_counts(app, sums.counts)
      write_tallies(app, sums.tallies)
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
  local answers, has, dropped = {}, job_owners(p, consumer, args, 10), {}
  for priority in pairs(has) do dropped[priority] = {} end
  local counts_of, write_record = new_counts(), new_records(p, now)
  local books = new_books(p, now, counts_of)
  refuse_wrong_type(KEY.finished(p), 'stream')
  for i = 2, #args, 10 do
    local priority, entry, app, id, started_at, retention, total, none, counts, tallies = unpack(args, i, i + 9)
    local r = redis.call('HMGET', KEY.job(p, app, id), 'state', 'source', 'created_at', 'admitted')
    local answer = 'STALE'
    if r[2] == source_of(priority, entry) then
      if r[4] then
        -- Told before, and the reply was lost.
        if r[1] == 'done' or r[1] == 'cancelled' then answer = 'OK' end
      elseif has[priority](entry) then
        local outcomes = counts_of(counts)
        answer = 'ADMIT'
        if outcomes.sum == tonumber(total) then
          answer = 'OK'
          write_record(app, id, r[1], r[3], started_at, retention, total, none, outcomes)
          books.add(app, counts, tallies)
          table.insert(dropped[priority], entry)
        end
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
