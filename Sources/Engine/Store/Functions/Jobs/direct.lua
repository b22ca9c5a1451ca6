-- Direct jobs. A job to few users is sent from its entry: whoever has that sends the job. Until it has ended nothing else of it
-- stands in Redis but its name, as a reserved job's does, and its record is written once. What lasts, or brings more than
-- counts, is admitted after all (admit, `begun`), and goes on as a chunk. If its worker dies, the entry goes to another.

do

-- Both functions are told of jobs in groups of those that stand beside one another and have words in common: of each group its
-- priority, its app and other common words, how many jobs, and the words of each. retention: how long the record of each is kept
-- after it ended well, s.

-- The groups, each as where its words stand in args: at, first and last.
local function groups_in(args, at, common, columns)
  local groups = {}
  while at <= #args do
    local first = at + common + 1
    local last = first + tonumber(args[first - 1]) * columns - 1
    groups[#groups + 1] = {at = at, first = first, last = last}
    at = last + 1
  end
  return groups
end

-- begin_direct — ARGV: consumer, how many priorities, (priority, first, last)… between which ids the entries stand, then of each
-- group priority, app, retention, how many, (entry, id, digest)…. Takes the names of jobs that the caller is going to send.
-- Reply: for each NEW | CANCELLED (an operator has paused, cancelled or slowed it while it waited: admit it) | DUPLICATE (the entry is
-- dropped) | CONFLICT (refuse it) | STALE | an error, when Redis refuses this one: something else stands under its key
local function begin_direct(keys, args)
  local p, now, answers, names = keys[1], now_ms(), {}, {}
  local has, at = {}, 3
  for _ = 1, tonumber(args[2]) do
    local priority, first, last = unpack(args, at, at + 2)
    has[priority] = Fairness.job_owner(p, priority, args[1], owned_between(KEY.jobs(p, priority), args[1], first, last))
    at = at + 3
  end
  local groups = groups_in(args, at, 3, 3)
  for _, group in ipairs(groups) do
    for i = group.first, group.last, 3 do names[#names + 1] = KEY.job(p, args[group.at + 1], args[i + 1]) end
  end
  -- Nearly always none of them is taken, which one question tells.
  local are_free, taken = redis.pcall('EXISTS', unpack(names)) == 0, {}
  local function begin(priority, app, name_s, entry, id, digest)
    local name = names[#answers + 1]
    local take = are_free and not taken[name] and Names.write or Names.take
    local is_possible, answer, state, has_pace = pcall(take, p, priority, entry, app, id, digest, now, name_s)
    taken[name] = true
    if not is_possible then return redis.error_reply(type(answer) == 'table' and answer.err or tostring(answer)) end
    if answer == 'DUPLICATE' then Fairness.drop_job(p, priority, entry) end
    return answer == 'NEW' and (state == 'paused' or state == 'cancelled' or has_pace) and 'CANCELLED' or answer
  end
  for _, group in ipairs(groups) do
    local priority, app = args[group.at], args[group.at + 1]
    local name_s = text(tonumber(args[group.at + 2]) + LIMIT.BRIEF_S)
    for i = group.first, group.last, 3 do
      answers[#answers + 1] = has[priority](args[i]) and begin(priority, app, name_s, args[i], args[i + 1], args[i + 2]) or 'STALE'
    end
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

-- Returns write(app, id, state, created_at), which writes the record of a job that has ended, and tells of it. What the jobs of
-- a group have in common is put together once.
local function new_record(p, now, started_at, retention, otherwise, total, none, counts)
  local is_well = (counts.of.rejected or 0) + (counts.of.expired or 0) + (counts.of.failed or 0) == 0
  local is_brief = math.abs(now - tonumber(started_at)) < LIMIT.BRIEF_S * 1000 / 2
  -- As long as was written with the name, which was taken a little before.
  local has_time = is_brief and (is_well or otherwise == retention)
  local fields = {'state', '', 'admitted', '1', 'total', total, 'started_at', started_at, 'finished_at', text(now)}
  local notice = {'app', '', 'id', '', 'state', '', 'total', total}
  local function add(name, n)
    notice[#notice + 1], notice[#notice + 2] = name, n
    if n ~= '0' then fields[#fields + 1], fields[#fields + 2] = name, n end
  end
  for _, outcome in ipairs(OUTCOMES) do add(outcome, text(counts.of[outcome] or 0)) end
  add('pending', '0')
  add('no_installations', none)
  add('retries', '0')
  local created = #notice + 2
  for _, word in ipairs({'created_at', '', 'started_at', started_at, 'finished_at', text(now)}) do
    notice[#notice + 1] = word
  end
  local finished = KEY.finished(p)
  return function(app, id, state, created_at)
    local key = KEY.job(p, app, id)
    fields[2] = state == 'cancelled' and 'cancelled' or 'done'
    notice[2], notice[4], notice[6], notice[created] = app, id, fields[2], created_at
    redis.call('HSET', key, unpack(fields))
    -- An operator who stops a job has its record stay.
    if state ~= 'queued' or not has_time then
      redis.call('EXPIRE', key, is_well and state ~= 'cancelled' and retention or otherwise)
    end
    redis.call('XADD', finished, '*', unpack(notice))
  end
end

-- What a call has to count of its jobs, added up: add(app, jobs, counts, tallies), and write() at its end.
local function new_books(p, now)
  local books, apps = {}, {}
  function books.add(app, jobs, counts, tallies)
    local of = apps[app] or {counts = {}, answers = {}, misfits = {}}
    apps[app] = of
    for _, part in ipairs(counts.parts) do
      of.counts[part[1]] = of.counts[part[1]] or {}
      of.counts[part[1]][part[2]] = (of.counts[part[1]][part[2]] or 0) + jobs * part[3]
    end
    for place, n, m in string.gmatch(tallies, '(%l+|%l+)|(%d+)|(%d+)') do
      of.answers[place] = (of.answers[place] or 0) + jobs * tonumber(n)
      of.misfits[place] = (of.misfits[place] or 0) + jobs * tonumber(m)
    end
  end
  function books.write()
    for app, of in pairs(apps) do
      local counts = {}
      for network, outcomes in pairs(of.counts) do
        for outcome, n in pairs(outcomes) do
          counts[#counts + 1], counts[#counts + 2], counts[#counts + 3] = network, outcome, n
        end
      end
      Metrics.count(p, app, counts, now)
      for place, n in pairs(of.answers) do MassDeath.tally(p, app, place, n, of.misfits[place], now) end
    end
  end
  return books
end

-- end_direct — ARGV: of each group nine words, how many, (entry, id, digest)…. Ends jobs that the caller has sent. The
-- lease is not asked for: of several workers that had the job, the first to end it is counted, and the record tells the others. One
-- that was admitted as a chunk counts there only.
--   priority, app
--   retention, and otherwise: that of one that did not end well
--   started_at: since when they were sent, ms
--   total: installations that each came to
--   no_installations: users of each without any
--   counts: of each, <network>|<outcome>|<count>, with spaces between
--   tallies: of each, <network>|<environment>|<answers>|<misfits>, likewise
-- Reply: for each OK | STALE (it goes on as a chunk, or its record is gone: nothing was counted) | ADMIT (its counts do not add up)
local function end_direct(keys, args)
  local p, now, answers = keys[1], now_ms(), {}
  local books = new_books(p, now)
  refuse_wrong_type(KEY.finished(p), 'stream')
  for _, group in ipairs(groups_in(args, 1, 9, 3)) do
    local priority, app, retention, otherwise, started_at, total, none, words, tallies =
      unpack(args, group.at, group.at + 8)
    local counts, ended = read_counts(words), {}
    local write_record = new_record(p, now, started_at, retention, otherwise, total, none, counts)
    for i = group.first, group.last, 3 do
      local entry, id = args[i], args[i + 1]
      local r = redis.pcall('HMGET', KEY.job(p, app, id), 'state', 'source', 'created_at', 'admitted', 'digest')
      -- Of what stands under its key and is no record, too: the others are not to suffer from it.
      local answer = 'STALE'
      -- By the same entry id another job may have come meanwhile.
      if r[2] == source_of(priority, entry) and r[5] == args[i + 2] then
        if r[4] then
          -- Told before: the reply was lost, or another worker was first.
          if r[1] == 'done' or r[1] == 'cancelled' then answer = 'OK' end
        elseif counts.sum == tonumber(total) then
          answer = 'OK'
          write_record(app, id, r[1], r[3])
          ended[#ended + 1] = entry
        else
          answer = 'ADMIT'
        end
      end
      answers[#answers + 1] = answer
    end
    Fairness.drop_jobs(p, priority, ended)
    if #ended > 0 then books.add(app, #ended, counts, tallies) end
  end
  redis.call('XTRIM', KEY.finished(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX)
  books.write()
  return answers
end

register('begin_direct', begin_direct)
register('end_direct', end_direct, {'allow-oom'})

end
