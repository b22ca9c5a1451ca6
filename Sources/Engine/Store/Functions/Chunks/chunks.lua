-- Chunks: how a job's are started, where each waits, and how they end.

local Chunks = {}  -- what later files use of it

do

local chunk_of, pack, unpack_chunk = Chunk.of, Chunk.pack, Chunk.unpack
local READ_ON, go_on_later, is_residual = Chunk.READ_ON, Chunk.go_on_later, Chunk.is_residual

-- With a consumer it is one that this consumer already has. Its entry says so, for whoever comes upon it in the stream.
-- Returns the entry.
local function add_chunk(p, c, consumer)
  local entry = redis.call('XADD', KEY.chunks(p, c.priority), '*', 'app', c.app, 'job', c.job, 'segment', c.segment,
    'source', c.source, 'lines', c.lines, 'crashes', text(c.crashes), unpack(consumer and {'consumer', consumer} or {}))
  redis.call('HINCRBY', KEY.share(p, c.priority), c.app, 1)
  redis.call('HSET', KEY.unfinished(p, c.source), c.segment, entry)
  return entry
end

-- Starts a job of one segment as a chunk that the consumer has already. Returns its entry.
local function add_only(p, app, job, consumer)
  local key = KEY.job(p, app, job)
  local r = redis.call('HMGET', key, 'priority', 'source', 'lines')
  local c = {priority = r[1], app = app, job = job, segment = '1', source = r[2], lines = r[3], crashes = 0}
  local stream, entry = KEY.chunks(p, c.priority), add_chunk(p, c, consumer)
  in_group(stream, 'XCLAIM', stream, GROUP, consumer, 0, entry, 'FORCE', 'RETRYCOUNT', 1, 'JUSTID')
  redis.call('HSET', key, 'cursor', '1', 'live', '1', 'chunks', '1')
  return entry
end

-- The chunk that `add_only` has made by an earlier call, whose reply was lost, with its lease renewed;
-- nil when it is not the consumer's.
local function only_of(p, key, priority, source, consumer)
  local record = redis.call('HMGET', key, 'source', 'admitted')
  if record[1] ~= source or not record[2] then return nil end
  local stream, entry = KEY.chunks(p, priority), redis.call('HGET', KEY.unfinished(p, source), '1')
  if not entry or entry == '' or not owned(stream, entry, consumer) then return nil end
  redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
  return entry
end

-- Puts a chunk that is no worker's yet into the delayed set.
local function delay_new(p, c, due)
  redis.call('HSET', KEY.unfinished(p, c.source), c.segment, '')
  redis.call('ZADD', KEY.delayed(p), due, pack(c))
end

-- A paced job has few chunks at a time. When a worker dies that has all of them, the job would stand still until the lease is
-- over, while others have nothing to do: so it gets as many more. Returns how many chunks it may have.
local function widen(p, app, job, priority, live, window)
  if window >= LIMIT.PACE_WINDOW_MAX or live < window then return window end
  local now = now_ms()
  if not Rates.stands_still(p, app, job, now) or not is_anybody_silent(p, KEY.chunks(p, priority), now) then return window end
  window = math.min(window + live, LIMIT.PACE_WINDOW_MAX)
  redis.call('HSET', KEY.job(p, app, job), 'window', text(window))
  return window
end

-- Starts the job's next segments while its window and the stream have room, one in any case when it has none; reads
-- on in its key when no segment is ready, once a call. What a round has read is started before the next round begins.
-- losses: how many workers have lost the job itself. Its only chunk has lost as many, for the job may be what killed them.
-- Returns how many users were lost with the key.
local function expand(p, app, job, losses)
  local key = KEY.job(p, app, job)
  local r = redis.call('HMGET', key, 'state', 'cursor', 'segments', 'live', 'window', 'residual_bytes',
    'source', 'lines', 'priority', 'start_at', 'scan', 'round', 'round_at', 'pushes_per_second', 'spread_over_seconds')
  local scheduled = r[1] == 'scheduled'
  if r[1] ~= 'running' and not scheduled then return 0 end
  local cursor, segments, live, window = tonumber(r[2]), tonumber(r[3]), tonumber(r[4]), tonumber(r[5])
  if tonumber(r[6]) >= LIMIT.RESIDUAL_BYTES_MAX then return 0 end
  local round, round_at = r[12], tonumber(r[13] or '0')
  if r[11] == Rounds.READ and cursor == segments then round, round_at = Rounds.advance(key) end
  local is_early = not scheduled and r[11] and round and cursor == segments and round_at > now_ms()
  -- What has been read to its end is started to its end first.
  local is_read = r[11] == Rounds.READ and cursor < segments
  local is_paced = not scheduled and (r[14] or r[15]) and (cursor < segments or r[11])
  if is_paced then window = widen(p, app, job, r[9], live, window) end
  -- Whom a key holds is asked when the job starts.
  local added, lost, has_more, may_read = 0, 0, r[11], not scheduled and not is_early and not is_read and r[11]
  local free = 0
  if live < window and (may_read or cursor < segments) then
    free = scheduled and window or math.max(Fairness.room(p, r[9], app), live == 0 and 1 or 0)
  end
  while live + added < window and added < free do
    if cursor == segments and may_read then
      may_read = false
      segments, has_more, lost = Audience.read_on(p, app, job)
    end
    if cursor >= segments then break end
    cursor = cursor + 1
    added = added + 1
    local c = {priority = r[9], app = app, job = job, segment = Rounds.name(text(cursor), round), source = r[7],
      lines = r[8], crashes = 0}
    if losses and segments == 1 and not scheduled then c.crashes = math.min(LIMIT.CRASHES_MAX - 1, losses) end
    redis.call('PERSIST', KEY.segment(p, c.segment, c.source))
    if scheduled then delay_new(p, c, r[10]) else add_chunk(p, c) end
  end
  -- A read brings one chunk for the one that ended: the window fills by further reads. A scheduled job's may wait.
  local is_short = not scheduled and added < 2 and added < free and live + added < window
  local any = {priority = r[9], app = app, job = job, source = r[7], lines = r[8]}
  if is_early then
    Chunk.go_on_by(p, any, round_at)
  elseif has_more and (live + added == 0 or is_short) then
    go_on_later(p, any, scheduled and tonumber(r[10]) or now_ms())
  elseif is_paced and live + added >= window then
    Chunk.go_on_by(p, any, now_ms() + LIMIT.PACE_LOOKS_MS)
  end
  if added > 0 then
    redis.call('HSET', key, 'cursor', text(cursor))
    redis.call('HINCRBY', key, 'live', added)
    redis.call('HINCRBY', key, 'chunks', added)
  end
  return lost
end

-- All that is left of a chunk waits for answers: the job goes on beside it, as if it were done. Repeated, it makes the window
-- too wide by one. Returns as `expand`.
local function go_on_beside(p, c)
  if is_residual(c) then return 0 end
  local key = KEY.job(p, c.app, c.job)
  local window = tonumber(redis.call('HGET', key, 'window') or LIMIT.WINDOW_GROWN_MAX)
  if window < LIMIT.WINDOW_GROWN_MAX then redis.call('HSET', key, 'window', text(window + 1)) end
  return expand(p, c.app, c.job)
end

-- Makes uploaded segments of an admitted job stay that have not been started yet, so many a call: time is to take nobody
-- away from a job that waits, is paused or switched off. A started segment stays anyway.
local function keep_unstarted(p, app, job)
  local key = KEY.job(p, app, job)
  local r = redis.call('HMGET', key, 'source', 'cursor', 'segments', 'kept', 'base')
  local kept = tonumber(r[4] or '0')
  local first, last = math.max(tonumber(r[2]), kept) + 1, tonumber(r[3])
  -- Rounds write segments that stay, of the base that is to stay.
  if r[5] then first, last = kept + 1, tonumber(r[5]) end
  if first > last then return end
  last = math.min(last, first + LIMIT.KEPT_MAX - 1)
  for n = first, last do redis.call('PERSIST', KEY.segment(p, text(n), r[1])) end
  redis.call('HSET', key, 'kept', text(last))
end

-- What nobody reads in the record of a job that has ended, unless chunks of it are dead letters: these may be retried.
local UNREAD_AFTER = {'priority', 'segments', 'cursor', 'chunks', 'live', 'residuals', 'residual_bytes', 'window', 'lines',
  'later', 'kept', 'unread', 'expires_at', 'retention', 'retention_well', 'keeps_content',
  'pushes_per_second', 'spread_over_seconds', 'rounds', 'round', 'round_at', 'base', 'base_recipients'}

-- Leaves of an ended job what is promised: a counter that is missing is 0. names and values: those of its counters and times, the
-- total first. Of a large job the content stays: people ask what it said, and it is little beside what was sent.
local function keep_promised(p, app, job, names, values, keeps_content)
  local gone = {unpack(UNREAD_AFTER)}
  for i, value in ipairs(values) do
    if value == '0' then gone[#gone + 1] = names[i] end
  end
  redis.call('HDEL', KEY.job(p, app, job), unpack(gone))
  if keeps_content == '0' and tonumber(values[1] or '0') < LIMIT.CONTENT_KEPT_MIN then
    redis.call('UNLINK', KEY.content(p, app, job))
  end
end

-- Changes by how much a job's record has pending. When more was counted than the job has, the progress of a chunk was lost, and its
-- recipients were sent to again: what is too much is added to the total, so that the sum holds and no count is negative.
-- Returns what is pending then.
local function change_pending(p, app, job, by, now)
  local key = KEY.job(p, app, job)
  local pending = redis.call('HINCRBY', key, 'pending', text(by))
  if pending >= 0 then return pending end
  local excess = text(-pending)
  for _, name in ipairs({'total', 'pending', 'counted_twice'}) do redis.call('HINCRBY', key, name, excess) end
  Alarms.lost_work(p, app, 'job ' .. job .. ' lost the progress of a chunk, so that ' .. excess ..
    ' installations count twice; they were sent to again', now)
  return 0
end

-- Ends a job whose last chunk is gone. What is still pending then was never expanded (cancelled) or lost by
-- Redis (a deleted stream): the sum must hold, and `discrepancy` is the operator's alarm.
local function finish_if_empty(p, app, job, now)
  local key = KEY.job(p, app, job)
  local r = redis.call('HMGET', key, 'state', 'chunks', 'cursor', 'segments', 'pending', 'finished_at',
    'scan', 'source', 'start_at', 'retention', 'keeps_content', 'retention_well')
  if r[6] or r[7] or tonumber(r[2]) > 0 or tonumber(r[3]) < tonumber(r[4]) then return end
  local pending = tonumber(r[5])
  -- Functions of an older version leave it negative.
  if pending < 0 then pending = change_pending(p, app, job, 0, now) end
  local state = r[1] == 'cancelled' and 'cancelled' or 'done'
  if pending ~= 0 then
    local outcome = state == 'cancelled' and 'skipped' or 'failed'
    redis.call('HINCRBY', key, outcome, pending)
    Metrics.count(p, app, {'none', outcome, pending}, now)
    if state ~= 'cancelled' then
      redis.call('HINCRBY', key, 'discrepancy', pending)
      Alarms.lost_work(p, app, 'job ' .. job .. ' ended with ' .. text(pending) ..
        ' installations unaccounted for; they count as failed', now)
    end
  end
  redis.call('HSET', key, 'state', state, 'pending', '0', 'finished_at', text(now))
  local names = {'total', 'accepted', 'rejected', 'uninstalled', 'expired', 'skipped', 'failed', 'pending',
    'no_installations', 'retries', 'created_at', 'started_at', 'finished_at'}
  local values = redis.call('HMGET', key, unpack(names))
  local notice = {'app', app, 'id', job, 'state', state}
  for i = 1, #names do
    notice[#notice + 1] = names[i]
    notice[#notice + 1] = values[i] or ''
  end
  redis.call('XADD', KEY.finished(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', unpack(notice))
  if values[7] == '0' then
    names[#names + 1], values[#values + 1] = 'start_at', r[9]
    keep_promised(p, app, job, names, values, r[11])
  end
  -- Nothing of it was rejected, expired or failed.
  local is_well = state == 'done' and values[3] == '0' and values[5] == '0' and values[7] == '0'
  local kept = is_well and r[12] or r[10] or LIMIT.RECORD_S
  redis.call('EXPIRE', key, kept)
  redis.call('EXPIRE', KEY.content(p, app, job), kept)
  redis.call('UNLINK', KEY.parked(p, app, job), KEY.unfinished(p, r[8]))
  redis.call('SREM', KEY.open(p), app .. ':' .. job)
end

-- A chunk that its worker has no more may have been lost with its stream: its job is to be looked at, also when the set of open jobs
-- was lost with that.
local function note_open(p, app, job)
  local r = redis.pcall('HMGET', KEY.job(p, app, job), 'admitted', 'finished_at')
  if r[1] and not r[2] then redis.pcall('SADD', KEY.open(p), app .. ':' .. job) end
end

-- Removes a finished chunk's keys and moves its job on. Returns how many users were lost with the job's key.
local function close_chunk(p, c, now)
  local key = KEY.job(p, c.app, c.job)
  local segment = KEY.segment(p, c.segment, c.source)
  local residual = is_residual(c)
  local bytes = residual and redis.call('STRLEN', segment) or 0
  redis.call('UNLINK', segment, KEY.done(p, c.segment, c.source), KEY.badges(p, c.segment, c.source))
  redis.call('HDEL', KEY.unfinished(p, c.source), c.segment)
  -- A record that is gone, or that a later job of the same name owns, has nothing to count.
  if redis.call('HGET', key, 'source') ~= c.source then return 0 end
  redis.call('HINCRBY', key, 'chunks', -1)
  if residual then
    redis.call('HINCRBY', key, 'residual_bytes', 0 - bytes)  -- -0 is no integer to Redis
  else
    redis.call('HINCRBY', key, 'live', -1)
  end
  local lost = expand(p, c.app, c.job)
  finish_if_empty(p, c.app, c.job, now)
  return lost
end

-- Recipients of a chunk that are not done yet; nil when its segment is gone.
local function remaining(p, c)
  local segment = redis.call('GET', KEY.segment(p, c.segment, c.source))
  if not segment then return nil end
  return lines_in(segment) - redis.call('BITCOUNT', KEY.done(p, c.segment, c.source)), segment
end

-- Counts a chunk's open recipients as `outcome` and closes it. Returns the bytes of its segment, by which it takes time, as
-- LIMIT.DROPPED_BYTES_MAX counts them.
local function close_as(p, c, outcome, now)
  local n, segment = remaining(p, c)
  local key = KEY.job(p, c.app, c.job)
  if n and n > 0 and redis.call('HGET', key, 'source') == c.source then
    redis.call('HINCRBY', key, outcome, n)
    change_pending(p, c.app, c.job, -n, now)
    local done = redis.call('GET', KEY.done(p, c.segment, c.source)) or ''
    Metrics.count_lines(p, c.app, segment, done, n, outcome, now)
  end
  close_chunk(p, c, now)
  return math.max(LIMIT.DROPPED_BYTES_MIN, segment and #segment or 0)
end

-- Ends the next parked chunks of a cancelled job. Returns the bytes of their segments.
local function drop_parked(p, key, now)
  local bytes = 0
  while bytes < LIMIT.DROPPED_BYTES_MAX do
    local member = redis.call('LPOP', key)
    if not member then break end
    bytes = bytes + close_as(p, unpack_chunk(member), 'skipped', now)
  end
  return bytes
end

-- Puts the next parked chunks of a job into the delayed set.
local function unpark(p, key, now)
  local scored = {}
  for i, member in ipairs(redis.call('LPOP', key, LIMIT.UNPARKED_MAX) or {}) do
    scored[2 * i - 1], scored[2 * i] = text(now), member
  end
  if #scored > 0 then redis.call('ZADD', KEY.delayed(p), unpack(scored)) end
end

-- Brings the job's next parked chunks to where its state wants them; a promotion goes on with the others. There may be
-- hundreds of thousands. Returns the bytes of the segments that were dropped.
local function bring_back(p, c, state, now)
  local key, bytes = KEY.parked(p, c.app, c.job), 0
  if state == 'cancelled' then bytes = drop_parked(p, key, now) else unpark(p, key, now) end
  if redis.call('EXISTS', key) == 1 then go_on_later(p, c, now) end
  return bytes
end

-- The job's state as a chunk sees it: 'gone' when the record is missing, ended, or of another admission. And the bucket that
-- the job tells of and the topic that it goes to, or false; whether it keeps to a pace; and its digest.
local function state_for(p, c)
  local r = redis.call('HMGET', KEY.job(p, c.app, c.job), 'state', 'source', 'bucket', 'topic', 'pushes_per_second', 'spread_over_seconds',
    'digest')
  if r[2] ~= c.source or r[1] == 'done' or r[1] == 'queued' or r[1] == 'refused' then return 'gone', false, false, false, '' end
  return r[1], r[3], r[4], (r[5] or r[6]) and true, r[7] or ''
end

-- When a scheduled job starts.
local function start_of(p, c) return tonumber(redis.call('HGET', KEY.job(p, c.app, c.job), 'start_at') or '0') end

local function start_if_due(p, c, now)
  if start_of(p, c) > now then return end
  redis.call('HSET', KEY.job(p, c.app, c.job), 'state', 'running', 'started_at', text(now))
end

-- Puts a chunk that nobody holds where it belongs: its stream, the delayed set, its job's parked list, or
-- away with it. What is switched off waits in the delayed set. True when it went to a place where work waits; and the bytes
-- of the segments that were dropped.
local function route(p, c, now, due)
  local state, bucket, topic = state_for(p, c)
  if c.segment == READ_ON then
    if state == 'gone' then return false, 0 end
    local bytes = state ~= 'paused' and bring_back(p, c, state, now) or 0
    if state == 'scheduled' then start_if_due(p, c, now) end
    expand(p, c.app, c.job)
    finish_if_empty(p, c.app, c.job, now)
    return true, bytes
  end
  if state == 'gone' then
    redis.call('UNLINK', KEY.segment(p, c.segment, c.source), KEY.done(p, c.segment, c.source),
      KEY.badges(p, c.segment, c.source), KEY.marks(p, c.source), KEY.read(p, c.source))
    redis.call('HDEL', KEY.unfinished(p, c.source), c.segment)
    return false, 0
  elseif state == 'cancelled' then
    return false, close_as(p, c, 'skipped', now)
  elseif state == 'paused' then
    redis.call('RPUSH', KEY.parked(p, c.app, c.job), pack(c))
    -- An older version lets them end after 30 days.
    redis.call('PERSIST', KEY.segment(p, c.segment, c.source))
    redis.call('PERSIST', KEY.done(p, c.segment, c.source))
    return false, 0
  end
  if state == 'scheduled' then
    -- Also what was parked, or lost and found again, begins at the job's time.
    due = math.max(due, start_of(p, c))
  end
  if due <= now then due = Switches.held_until(p, c, bucket, topic, now) or due end
  if due > now then
    redis.call('ZADD', KEY.delayed(p), due, pack(c))
    return true, 0
  end
  if state == 'scheduled' then start_if_due(p, c, now) end
  add_chunk(p, c)
  return true, 0
end

-- A chunk that lost too many workers, or whose segment or content is gone, becomes a dead letter.
local function bury_chunk(p, c, reason, message, now)
  local n, segment = remaining(p, c)
  local done = redis.call('GET', KEY.done(p, c.segment, c.source)) or ''
  local letter = dead_letter(p, now, 'kind', 'chunk', 'reason', reason, 'field', '', 'message', message, 'app', c.app,
    'id', c.job, 'priority', c.priority, 'source', c.source, 'lines', c.lines, 'segment', c.segment,
    'recipients', segment or '', 'done', done, 'count', text(n or 0))
  -- Without recipients it cannot be retried.
  if segment then Badges.bury(p, c, letter) end
  close_as(p, c, 'failed', now)
end

Chunks.expand = expand
Chunks.go_on_beside = go_on_beside
Chunks.keep_unstarted = keep_unstarted
Chunks.change_pending = change_pending
Chunks.finish_if_empty = finish_if_empty
Chunks.close_chunk = close_chunk
Chunks.note_open = note_open
Chunks.state_for = state_for
Chunks.route = route
Chunks.bring_back = bring_back
Chunks.bury_chunk = bury_chunk
Chunks.add = add_chunk
Chunks.add_only = add_only
Chunks.only_of = only_of

end
