-- Who has which chunk: claims, their renewal, and how a chunk is given back or given up.

local Leases = {}  -- what later files use of it

do

-- The consumer that had a chunk when it was added; nil for almost all, which nobody had.
local function first_consumer(item) return item[2][13] == 'consumer' and item[2][14] or nil end

-- Turns a freshly owned entry into a claim, or clears it away when its job does not want it sent. Returns the bytes of the
-- segments that were dropped.
local function claim_entry(p, priority, stream, item, deliveries, now, claims)
  local entry, c = item[1], Chunk.of(priority, fields_of(item[2]))
  local is_known = c.lines == 'users' or c.lines == 'installations'
  if not (c.app and c.job and c.segment and c.source and is_known) then
    dead_letter(p, now, 'kind', 'chunk', 'reason', 'malformed_chunk', 'field', '', 'message',
      'A chunk entry lacks a field or has another than ours; something else writes to ' .. stream, 'app', c.app or '', 'id', c.job or '',
      'priority', priority, 'count', '0')
    drop_entry(stream, entry)
    return 0
  end
  local state, bucket, topic, is_paced, digest = Chunks.state_for(p, c)
  if state ~= 'running' then
    Fairness.drop_chunk(p, c, entry)
    local _, bytes = Chunks.route(p, c, now, 0)
    return bytes
  end
  c.crashes = math.min(LIMIT.CRASHES_MAX, c.crashes + deliveries - 1)
  local held = Switches.held_until(p, c, bucket, topic, now)
  if held then
    Fairness.drop_chunk(p, c, entry)
    Chunks.route(p, c, now, held)
    return 0
  end
  local segment = redis.call('GET', KEY.segment(p, c.segment, c.source))
  if not segment then
    Fairness.drop_chunk(p, c, entry)
    Chunks.bury_chunk(p, c, 'segment_missing', 'The recipients of this chunk are no longer in Redis', now)
  elseif c.crashes >= LIMIT.CRASHES_MAX then
    Fairness.drop_chunk(p, c, entry)
    Chunks.bury_chunk(p, c, 'crashed_workers',
      'This chunk was lost by ' .. text(c.crashes) .. ' workers in a row', now)
  else
    local done = redis.call('GET', KEY.done(p, c.segment, c.source)) or ''
    claims[#claims + 1] = {priority, entry, c.app, c.job, c.segment, c.source, c.crashes, is_paced and 1 or 0, c.lines, done,
      segment, digest}
  end
  return 0
end

-- Moves due chunks of a priority into its stream as far as that has room, each app in its turn, at most max; and until the
-- call has dropped as much as it may, `bytes` of which it has dropped before.
-- Returns how many were taken, and the bytes that the call has dropped then.
local function fill(p, priority, max, bytes, now)
  if max <= 0 or redis.call('EXISTS', KEY.ready_apps(p, priority)) == 0 then return 0, bytes end
  local waiting, ahead = Fairness.crowd(p, priority)
  local free = ahead - waiting
  local taken = Ready.take_turns(p, priority, max, now, function(app)
    return bytes < LIMIT.DROPPED_BYTES_MAX and (free > 0 or Fairness.share_left(p, priority, app) > 0)
  end, function(member)
    local is_waiting, dropped = Chunks.route(p, Chunk.unpack(member), now, 0)
    if is_waiting then free = free - 1 end
    bytes = bytes + dropped
  end)
  return taken, bytes
end

-- claim — ARGV: consumer, max, the lowest priority. New chunks, high before normal before low; due ones take the room of those
-- before.
-- Reply: {{priority, entry, app, job, segment, source, crashes, 1 if the job keeps to a pace, lines, done bitmap, recipients,
-- the digest of its job}…}, then MORE
-- when it was held up by chunks that nobody is to have and there may be more
local function claim(keys, args)
  local p, consumer, max, now = keys[1], args[1], tonumber(args[2]), now_ms()
  local claims, seen, bytes, _ = {}, 0, 0, nil
  local function may_look() return seen < max + LIMIT.PASSED_OVER_MAX and bytes < LIMIT.DROPPED_BYTES_MAX end
  for _, priority in ipairs(PRIORITIES) do
    local stream = KEY.chunks(p, priority)
    if #claims < max then _, bytes = fill(p, priority, LIMIT.FILLED_MAX, bytes, now) end
    while #claims < max and may_look() do
      local wanted = max - #claims
      local items = read_new(stream, consumer, wanted)
      for _, item in ipairs(items) do
        local holder = first_consumer(item)
        if holder then
          redis.call('XCLAIM', stream, GROUP, holder, 0, item[1], 'RETRYCOUNT', 1, 'JUSTID')
        else
          bytes = bytes + claim_entry(p, priority, stream, item, 1, now, claims)
        end
      end
      seen = seen + #items
      if #items < wanted then break end
    end
    if priority == args[3] then break end
  end
  if #claims < max and not may_look() then claims[#claims + 1] = 'MORE' end
  return claims
end

-- reclaim — ARGV: consumer, lease ms, max. Chunks of workers that fell silent; reply as claim.
-- It can return the caller's own chunks when the caller itself was silent for a lease.
local function reclaim(keys, args)
  local p, consumer, lease_ms, max, now = keys[1], args[1], args[2], tonumber(args[3]), now_ms()
  local claims = {}
  for _, priority in ipairs(PRIORITIES) do
    if #claims < max then
      local stream = KEY.chunks(p, priority)
      read_abandoned(p, stream, consumer, lease_ms, max - #claims, now, function(item, deliveries)
        if first_consumer(item) then
          -- Only the worker that the entry names may claim it. So it is added again without a name.
          local c = Chunk.of(priority, fields_of(item[2]))
          c.crashes = math.min(LIMIT.CRASHES_MAX, c.crashes + deliveries - 1)
          Fairness.drop_chunk(p, c, item[1])
          Chunks.route(p, c, now, 0)
        else
          claim_entry(p, priority, stream, item, deliveries, now, claims)
        end
      end)
    end
  end
  return claims
end

-- claim_unanswered — ARGV: consumer, max, then (priority, entry) of what it has in hand… The caller's chunks that it does
-- not know of, for the connection was lost that the answer to its claim went to. Reply as reclaim.
local function claim_unanswered(keys, args)
  local p, consumer, max, now = keys[1], args[1], tonumber(args[2]), now_ms()
  local claims, bytes = {}, 0
  local function has_room() return #claims < max and bytes < LIMIT.DROPPED_BYTES_MAX end
  for _, priority in ipairs(PRIORITIES) do
    local stream = KEY.chunks(p, priority)
    read_unanswered(stream, consumer, args, 3, priority, max, has_room, function(item, deliveries)
      bytes = bytes + claim_entry(p, priority, stream, item, deliveries, now, claims)
    end)
  end
  return claims
end

-- heartbeat — ARGV: consumer, kind (jobs|chunks), then (priority, entry, app, job)… Resets the idle time.
-- Reply: one of OK | PAUSED | CANCELLED | STALE per entry; STALE: somebody else owns it, or nobody.
local function heartbeat(keys, args)
  local p, consumer, kind = keys[1], args[1], args[2]
  local answers, has, renewed, states = {}, {}, {}, {}
  for priority, entries in pairs(entries_in(args, 3, 4)) do
    has[priority] = owned_among(KEY[kind](p, priority), consumer, entries)
    if kind == 'jobs' then has[priority] = Fairness.job_owner(p, priority, consumer, has[priority]) end
    renewed[priority] = {}
  end
  for i = 3, #args, 4 do
    local priority, entry, answer = args[i], args[i + 1], 'STALE'
    if has[priority](entry) then
      table.insert(renewed[priority], entry)
      local key = kind == 'chunks' and KEY.job(p, args[i + 2], args[i + 3])
      if key and states[key] == nil then states[key] = redis.call('HGET', key, 'state') end
      answer = (states[key] == 'paused' and 'PAUSED') or (states[key] == 'cancelled' and 'CANCELLED') or 'OK'
    elseif kind == 'chunks' then
      Chunks.note_open(p, args[i + 2], args[i + 3])
    end
    answers[#answers + 1] = answer
  end
  for priority, entries in pairs(renewed) do
    for from = 1, #entries, LIMIT.WORDS_MAX do
      local words = {unpack(entries, from, math.min(from + LIMIT.WORDS_MAX - 1, #entries))}
      words[#words + 1] = 'JUSTID'
      redis.call('XCLAIM', KEY[kind](p, priority), GROUP, consumer, 0, unpack(words))
    end
  end
  return answers
end

-- hand_back — ARGV: consumer, delay ms, then (priority, entry)… The chunks keep their progress and their
-- crash count and go to others, after the delay, which is longer when much is delayed. Reply: how many were still the caller's.
local function hand_back(keys, args)
  local p, consumer, delay, now = keys[1], args[1], tonumber(args[2]), now_ms()
  refuse_wrong_type(KEY.delayed(p), 'zset')
  local due = delay > 0 and Switches.unhurried(p, now + delay) or now
  local returned = 0
  for i = 3, #args, 2 do
    local stream = KEY.chunks(p, args[i])
    local deliveries = owned(stream, args[i + 1], consumer)
    local items = deliveries and redis.call('XRANGE', stream, args[i + 1], args[i + 1]) or {}
    if #items == 1 then
      local c = Chunk.of(args[i], fields_of(items[1][2]))
      c.crashes = c.crashes + deliveries - 1
      Fairness.drop_chunk(p, c, args[i + 1])
      Chunks.route(p, c, now, due)
      returned = returned + 1
    end
  end
  return returned
end

-- bury — ARGV: consumer, priority, entry, reason code, message. A chunk that no worker could carry becomes a dead
-- letter, its open recipients failed; when its job has been cancelled or paused it goes where that says.
-- Reply: OK | STALE
local function bury(keys, args)
  local p, priority, entry, now = keys[1], args[2], args[3], now_ms()
  local stream = KEY.chunks(p, priority)
  local items = owned(stream, entry, args[1]) and redis.call('XRANGE', stream, entry, entry) or {}
  if #items == 0 then return 'STALE' end
  refuse_wrong_type(KEY.dead(p), 'stream')
  refuse_wrong_type(KEY.finished(p), 'stream')
  local c = Chunk.of(priority, fields_of(items[1][2]))
  local state = Chunks.state_for(p, c)
  Fairness.drop_chunk(p, c, entry)
  if state == 'running' then Chunks.bury_chunk(p, c, args[4], args[5], now) else Chunks.route(p, c, now, 0) end
  return 'OK'
end

register('claim', claim, {'allow-oom'})
register('reclaim', reclaim, {'allow-oom'})
register('claim_unanswered', claim_unanswered, {'allow-oom'})
register('heartbeat', heartbeat, {'allow-oom'})
register('hand_back', hand_back, {'allow-oom'})
register('bury', bury, {'allow-oom'})

Leases.claim_entry = claim_entry
Leases.fill = fill

end
