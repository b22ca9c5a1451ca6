-- Reconciliation: an open job is compared with what exists of it. A chunk is unfinished as long as its segment exists, so a
-- segment that nothing knows of (a deleted stream) is queued again, with its progress.
--
-- HASH P:unfinished:<source>: the segments of a job's unfinished chunks, each with the entry by which it was last added to a
-- stream. Each is looked for where chunks can be, a page at a time, so that a healthy job costs a look no more than its
-- page, however much waits in Redis.

do

-- The segments of the job of record r (see reconcile) that the streams hold, as a set; nil when these are too long to look
-- through. Puts the apps' shares of the streams right on its way.
local function streamed_segments(p, app, id, r)
  local n, found = 0, {}
  for _, priority in ipairs(PRIORITIES) do n = n + redis.call('XLEN', KEY.chunks(p, priority)) end
  if n > LIMIT.RECONCILE_STREAMED_MAX then return nil end
  for _, priority in ipairs(PRIORITIES) do
    local share = {}
    for _, item in ipairs(redis.call('XRANGE', KEY.chunks(p, priority), '-', '+')) do
      local c = fields_of(item[2])
      if c.app == app and c.job == id and c.source == r.source then found[c.segment] = item[1] end
      if c.app then share[c.app] = (share[c.app] or 0) + 1 end
    end
    -- A count that went wrong would cost its app its turns for as long as the stream is not empty.
    redis.call('UNLINK', KEY.share(p, priority))
    for name, count in pairs(share) do redis.call('HSET', KEY.share(p, priority), name, count) end
  end
  return found
end

-- Whether a segment of the job is in its stream, by the entry that was noted for it. An entry up to `given` that nobody holds was
-- a consumer's who was deleted with all that it had: it comes to nobody any more, and is removed.
local function is_streamed(p, r, segment, entry, given)
  if entry == '' then return false end
  local stream = KEY.chunks(p, r.priority)
  local item = redis.call('XRANGE', stream, entry, entry)[1]
  local c = item and fields_of(item[2])
  if not c or c.source ~= r.source or c.segment ~= segment then return false end
  if not given or is_behind(entry, given) then return true end
  if #redis.call('XPENDING', stream, GROUP, entry, entry, 1) > 0 then return true end
  Fairness.drop_chunk(p, {priority = r.priority, app = c.app}, entry)
  return false
end

-- A chunk of the job of record r (see reconcile) by its segment.
local function chunk_called(app, id, r, segment)
  local c = {priority = r.priority, app = app, job = id, segment = segment, source = r.source, lines = r.lines, crashes = 0}
  if Chunk.is_residual(c) then c.lines = string.sub(segment, 1, 1) == 'u' and 'users' or 'installations' end
  return c
end

local function is_delayed(p, c)
  for crashes = 0, LIMIT.CRASHES_MAX do
    c.crashes = crashes
    if redis.call('ZSCORE', KEY.delayed(p), Chunk.pack(c)) then return true end
  end
  c.crashes = 0
  return false
end

-- A set of the job's parked segments, or true when there are too many to look through.
local function parked_segments(p, app, id)
  local key, found = KEY.parked(p, app, id), {}
  if redis.call('LLEN', key) > LIMIT.RECONCILE_PARKED_MAX then return true end
  for _, member in ipairs(redis.call('LRANGE', key, 0, -1)) do found[Chunk.unpack(member).segment] = true end
  return found
end

-- Counts a job's chunks anew, where the record or what it has unfinished is not to be believed (workers of an older version
-- do not note that): those that are somewhere, and segments that are there. False when there is too much to look through.
local function recount(p, app, id, r, streamed)
  local unfinished, delayed = KEY.unfinished(p, r.source), KEY.delayed(p)
  local size = redis.call('HLEN', unfinished)
  if redis.call('ZCARD', delayed) + redis.call('LLEN', KEY.parked(p, app, id)) + size > LIMIT.RECONCILE_MAX then return false end
  local known, count, own, bytes = {}, 0, 0, 0
  local function add(segment, entry, must_exist)
    if known[segment] or segment == Chunk.READ_ON then return end
    local length = redis.call('STRLEN', KEY.segment(p, segment, r.source))
    if must_exist and length == 0 then return end
    known[segment], count = entry, count + 1
    if Chunk.is_residual({segment = segment}) then bytes = bytes + length else own = own + 1 end
  end
  for segment, entry in pairs(streamed) do add(segment, entry) end
  local prefix = string.sub(cjson.encode({r.priority, app, id}), 1, -2) .. ','
  local function add_members(members)
    for _, member in ipairs(members) do
      if string.sub(member, 1, #prefix) == prefix then
        local c = Chunk.unpack(member)
        if c.source == r.source then add(c.segment, '') end
      end
    end
  end
  add_members(redis.call('ZRANGE', delayed, 0, -1))
  add_members(redis.call('LRANGE', KEY.parked(p, app, id), 0, -1))
  for _, segment in ipairs(redis.call('HKEYS', unfinished)) do
    add(segment, '', true)
    if not known[segment] then redis.call('UNLINK', KEY.badges(p, segment, r.source)) end
  end
  if size == 0 then
    local function add_numbers(kind, last)
      for n = math.max(1, last - LIMIT.RECONCILE_NUMBERS_MAX + 1), last do
        add(Rounds.name(kind .. text(n), r.round), '', true)
        -- The next round may have come up while chunks of one were under way.
        if r.round and r.round ~= '0' then add(Rounds.name(kind .. text(n), text(r.round - 1)), '', true) end
      end
    end
    add_numbers('', r.cursor)
    add_numbers('r', r.residuals)
    add_numbers('u', r.residuals)
  end
  redis.call('UNLINK', unfinished)
  for segment, entry in pairs(known) do redis.call('HSET', unfinished, segment, entry) end
  redis.call('HSET', KEY.job(p, app, id), 'chunks', count, 'live', own, 'residual_bytes', bytes)
  return true
end

-- reconcile — ARGV: app, id, cursor ('0' at first). Looks for the next chunks of an open job, and repairs.
-- Reply: {OK | BUSY (too much in Redis to look through) | ABSENT (no such open job) | REPAIRED (an alarm), cursor to
-- go on at, '' at the end}
local function reconcile(keys, args)
  local p, app, id, now = keys[1], args[1], args[2], now_ms()
  local key = KEY.job(p, app, id)
  local v = redis.call('HMGET', key, 'source', 'priority', 'lines', 'cursor', 'residuals', 'chunks', 'admitted',
    'finished_at', 'scan', 'state', 'round')
  if not v[7] or v[8] then
    redis.call('SREM', KEY.open(p), app .. ':' .. id)
    return {'ABSENT', ''}
  end
  Chunks.keep_unstarted(p, app, id)
  local r = {source = v[1], priority = v[2], lines = v[3], cursor = tonumber(v[4]), residuals = tonumber(v[5]),
    round = v[11] or nil}
  local cursor, answer = args[3], 'OK'
  local is_miscounted = redis.call('HLEN', KEY.unfinished(p, r.source)) ~= tonumber(v[6])
  local streamed = (is_miscounted or cursor == '0') and streamed_segments(p, app, id, r)
  if is_miscounted then
    if not streamed or not recount(p, app, id, r, streamed) then return {'BUSY', ''} end
    if redis.call('HGET', key, 'chunks') ~= v[6] then answer = 'REPAIRED' end
    cursor = '0'
  end
  local page = redis.call('HSCAN', KEY.unfinished(p, r.source), cursor, 'COUNT', LIMIT.RECONCILED_AT_ONCE)
  local given = last_given(KEY.chunks(p, r.priority))
  local parked, lost = nil, {}
  for i = 1, #page[2], 2 do
    local segment = page[2][i]
    if not is_streamed(p, r, segment, page[2][i + 1], given) then
      local c = chunk_called(app, id, r, segment)
      if not is_delayed(p, c) then
        parked = parked or parked_segments(p, app, id)
        if parked ~= true and not parked[segment] then lost[#lost + 1] = c end
      end
    end
  end
  local requeued = 0
  for _, c in ipairs(lost) do
    if redis.call('STRLEN', KEY.segment(p, c.segment, r.source)) == 0 then
      -- Whether it was counted, the next reconciliation finds out.
      redis.call('HDEL', KEY.unfinished(p, r.source), c.segment)
      redis.call('UNLINK', KEY.badges(p, c.segment, r.source))
    elseif requeued < LIMIT.REQUEUED_MAX then
      requeued = requeued + 1
      Chunks.route(p, c, now, 0)
    end
  end
  if requeued > 0 then
    answer = 'REPAIRED'
    Alarms.lost_work(p, app, 'job ' .. id .. ' had lost chunks, and ' .. text(requeued) .. ' are queued again', now)
  end
  -- What was to bring parked chunks back, or to go on reading, may be gone with the delayed set.
  if v[10] ~= 'paused' and redis.call('EXISTS', KEY.parked(p, app, id)) == 1 then
    Chunks.bring_back(p, chunk_called(app, id, r, ''), v[10], now)
  end
  if v[9] or answer == 'REPAIRED' then Chunks.expand(p, app, id) end
  Chunks.finish_if_empty(p, app, id, now)
  if requeued == LIMIT.REQUEUED_MAX then return {answer, cursor} end
  return {answer, page[1] ~= '0' and page[1] or ''}
end

register('reconcile', reconcile, {'allow-oom'})

end
