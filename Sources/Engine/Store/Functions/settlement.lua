-- Settling a chunk
--
-- Accounting: total = accepted + rejected + uninstalled + expired + skipped + failed + pending, always. A user
-- not yet resolved stands in total and in pending as one. The caller says by how much total changes (a user
-- with n installations: n - 1; without any: -1; an installation line: 0) and which outcomes were reached; the
-- change of pending follows from the two, so the sum cannot break. What goes into a residual has no outcome yet
-- and so stays pending until the residual is settled; so does what stays with the chunk as a line of its own.

do

local function count_outcomes(p, app, job, counts, now)
  local key = KEY.job(p, app, job)
  local sum = 0
  for i = 1, #counts, 3 do
    local n = tonumber(counts[i + 2])
    if n > 0 then
      redis.call('HINCRBY', key, counts[i + 1], n)
      sum = sum + n
    end
  end
  Metrics.count(p, app, counts, now)
  return sum
end

-- `delay` in ms, or network|environment|ms: it waits for a worker that has credentials there, for so long at most.
local function add_residual(p, c, delay, lines, now)
  local key = KEY.job(p, c.app, c.job)
  local segment = 'r' .. text(redis.call('HINCRBY', key, 'residuals', 1))
  redis.call('SET', KEY.segment(p, segment, c.source), lines)
  redis.call('HINCRBY', key, 'chunks', 1)
  redis.call('HSET', KEY.unfinished(p, c.source), segment, '')
  redis.call('HINCRBY', key, 'residual_bytes', #lines)
  local residual = {priority = c.priority, app = c.app, job = c.job, segment = segment, source = c.source,
    lines = 'installations', crashes = 0}
  if tonumber(delay) then return Chunks.route(p, residual, now, now + tonumber(delay)) end
  local place, wait_ms = string.match(delay, '^(.*)|(%d+)$')
  Routes.hold(p, residual, c.app .. '|' .. place, tonumber(wait_ms), now)
end

-- The residuals that wait for a worker with credentials and that none has or had lately: they are skipped, and added to
-- counts as such. While the fleet gathers they are put off instead, for nobody knows yet.
-- Returns the skipped by position, and their places as words of a reply.
local function skip_unsendable(p, app, args, first, last, counts)
  local skipped, words = {}, {}
  for i = first, last, 2 do
    local network, environment = string.match(args[i], '^(%a+)|(%a+)|')
    if network and not Routes.could_send(p, app .. '|' .. network .. '|' .. environment) then
      if Routes.is_gathering(p) then
        args[i] = text(LIMIT.ROUTE_ALIVE_MS)
      else
        local n = #counts
        counts[n + 1], counts[n + 2], counts[n + 3] = network, 'skipped', lines_in(args[i + 1])
        skipped[i] = true
        words[#words + 1] = 'skipped|' .. network .. '|' .. environment
      end
    end
  end
  return skipped, words
end

-- Installations of users that are done without them become the chunk's last lines, each with its own bit of the bitmap.
local function keep_open(p, c, lines)
  local segment = KEY.segment(p, c.segment, c.source)
  -- Of a segment whose time was over nothing may come back: it would have no end.
  if redis.call('EXISTS', segment) == 0 then return end
  redis.call('APPEND', segment, lines)
  if Chunk.is_residual(c) then redis.call('HINCRBY', KEY.job(p, c.app, c.job), 'residual_bytes', #lines) end
end

-- Whether the chunk's last lines are those that this settlement leaves open: what its bitmap says may also have been told by
-- another worker, whose users had other devices open.
local function has_kept_open(p, c, args, first, last)
  for i = first, last, 2 do
    if args[i] == '-' then
      local segment = KEY.segment(p, c.segment, c.source)
      return redis.call('GETRANGE', segment, -#args[i + 1], -1) == args[i + 1]
    end
  end
  return true
end

-- Mass death. Tokens that die by the hundred in a minute are no deaths but a mistake of ours: the wrong environment,
-- topic or sender. The fleet's answers of each app, network and environment are therefore counted by the minute, and
-- while too many of this or the last minute's are misfits, no verdict removes anything there.

local function add_tally(p, app, place, answers, misfits, now)
  local key = KEY.tally(p, app, place, minute_of(now))
  -- What counts must not be able to stop the work.
  redis.pcall('HINCRBY', key, 'answers', answers)
  redis.pcall('HINCRBY', key, 'misfits', misfits)
  redis.pcall('EXPIRE', key, LIMIT.TALLY_S)
end

-- Answers and misfits of the first of this minute and the last that is suspicious, or nil.
local function suspicion(p, app, place, now)
  for _, ms in ipairs({now, now - 60000}) do
    local r = redis.pcall('HMGET', KEY.tally(p, app, place, minute_of(ms)), 'answers', 'misfits')
    local answers, misfits = tonumber(r[1] or '0') or 0, tonumber(r[2] or '0') or 0
    if misfits >= LIMIT.SUSPICION_MISFITS_MIN and misfits * 100 >= answers * LIMIT.SUSPICION_PERCENT then
      return answers, misfits
    end
  end
  return nil
end

-- The places of a settlement that are under suspicion, as a set; raises an alarm for each.
local function suspicions(p, app, args, first, last, now)
  local suspected = {}
  for i = first, last, 4 do
    local place = args[i] .. '|' .. args[i + 1]
    add_tally(p, app, place, args[i + 2], args[i + 3], now)
    local answers, misfits = suspicion(p, app, place, now)
    if answers then
      suspected[place] = true
      Alarms.set(p, 'mass_death|' .. app .. '|' .. place, 'settle', 120000, app .. ': ' .. text(misfits) .. ' of ' ..
        text(answers) .. ' answers of a minute on ' .. args[i] .. ' (' .. args[i + 1] .. ') say that the device ' ..
        'token does not fit the environment, topic or sender: no installation is removed there; check the ' ..
        'configuration', now)
    end
  end
  return suspected
end

-- settle — ARGV: consumer, priority, entry, app, job, segment, source, lines, final 0|1, done bitmap, bitmap that
-- the caller told before (or found when it claimed) or '-' to not compare, change of total, users without
-- installation, retries, n, n x (network, outcome, count), m, m x (delay ms or network|environment|ms,
-- residual lines; or '-', lines of installations whose
-- users are done without them, which stay with the chunk), t, t x (network, environment, answers, misfits), l, l x (network, token, user, generation, environment that
-- accepted it), then (network, environment, token, user, generation, provider's time or '', reason)… for invalid
-- tokens.
-- Everything in it is news since the last settle of this chunk, and news means new bits in the bitmap: a settle
-- that brings none is a repetition after a lost reply, and is not counted again; when another worker told the same, but left
-- other devices open, the caller's lines are no longer the chunk's: STALE. When the store has another bitmap
-- than the caller told before, somebody else had the chunk in between: the caller was silent, lost it, and got it
-- back by a reclaim of its own. What it has to tell may have been counted already: STALE. An invalid token that is removed counts as
-- uninstalled, one whose binding has changed or that is spared for suspicion of a mass death as rejected.
-- Reply: {OK|PAUSED|CANCELLED|STALE, removed, kept, spared, users lost with the job's key}, and when there is more to
-- say, what became of each token (r: removed, k: kept, s: spared, in one text), the suspected network|environment…, and
-- skipped|network|environment… (residuals for which no worker has credentials); STALE: nothing was counted, stop the chunk.
local function settle(keys, args)
  local p, now = keys[1], now_ms()
  local consumer, entry = args[1], args[3]
  local c = {priority = args[2], app = args[4], job = args[5], segment = args[6], source = args[7],
    lines = args[8], crashes = 0}
  local told = table.remove(args, 11)
  local stream = KEY.chunks(p, c.priority)
  if not owned(stream, entry, consumer) then return {'STALE', 0, 0, 0, 0} end
  local state = Chunks.state_for(p, c)
  if state == 'gone' then
    Fairness.drop_chunk(p, c, entry)
    Chunks.close_chunk(p, c, now)
    return {'CANCELLED', 0, 0, 0, 0}
  end
  local answer = (state == 'paused' and 'PAUSED') or (state == 'cancelled' and 'CANCELLED') or 'OK'
  local final = args[9] == '1'
  local known = redis.call('GET', KEY.done(p, c.segment, c.source)) or ''
  local at = 15 + tonumber(args[14]) * 3
  local residuals = tonumber(args[at])
  local tallies = at + 1 + residuals * 2
  if not final and known == args[10] then
    if not has_kept_open(p, c, args, at + 1, tallies - 1) then return {'STALE', 0, 0, 0, 0} end
    redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
    return {answer, 0, 0, 0, 0}
  end
  if told ~= '-' and told ~= known then return {'STALE', 0, 0, 0, 0} end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  refuse_wrong_type(KEY.finished(p), 'stream')
  local key = KEY.job(p, c.app, c.job)
  local counts = {unpack(args, 15, at - 1)}
  local labels = tallies + 1 + tonumber(args[tallies]) * 4
  local invalid = labels + 1 + tonumber(args[labels]) * 5
  local suspected = suspicions(p, c.app, args, tallies + 1, labels - 1, now)
  for i = labels + 1, invalid - 1, 5 do Installations.relabel(p, c.app, unpack(args, i, i + 4)) end
  local removed, kept, spared, lost = 0, 0, 0, 0
  local verdicts = {}
  for i = invalid, #args, 7 do
    local gone = false
    if suspected[args[i] .. '|' .. args[i + 1]] then
      spared = spared + 1
    else
      gone = Installations.remove_invalid(p, c.app, args[i], args[i + 2], args[i + 3], args[i + 4], args[i + 5], args[i + 6],
        c.job) == 'removed'
      if gone then removed = removed + 1 else kept = kept + 1 end
    end
    verdicts[#verdicts + 1] = gone and 'r' or suspected[args[i] .. '|' .. args[i + 1]] and 's' or 'k'
    local n = #counts
    counts[n + 1], counts[n + 2], counts[n + 3] = args[i], gone and 'uninstalled' or 'rejected', 1
  end
  local skipped, words = skip_unsendable(p, c.app, args, at + 1, tallies - 1, counts)
  local sum = count_outcomes(p, c.app, c.job, counts, now)
  redis.call('HINCRBY', key, 'total', args[11])
  redis.call('HINCRBY', key, 'pending', tonumber(args[11]) - sum)
  if args[12] ~= '0' then redis.call('HINCRBY', key, 'no_installations', args[12]) end
  if args[13] ~= '0' then redis.call('HINCRBY', key, 'retries', args[13]) end
  for i = at + 1, tallies - 1, 2 do
    if args[i] == '-' then
      keep_open(p, c, args[i + 1])
    elseif not skipped[i] then
      add_residual(p, c, args[i], args[i + 1], now)
    end
  end
  if final then
    Fairness.drop_chunk(p, c, entry)
    lost = Chunks.close_chunk(p, c, now)
  else
    redis.call('SET', KEY.done(p, c.segment, c.source), args[10])
    redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
  end
  local reply = {answer, removed, kept, spared, lost}
  if #verdicts > 0 or next(suspected) or #words > 0 then reply[6] = table.concat(verdicts) end
  for place in pairs(suspected) do reply[#reply + 1] = place end
  for _, word in ipairs(words) do reply[#reply + 1] = word end
  return reply
end

register('settle', settle, {'allow-oom'})

end
