-- The producers' streams: what others do to them. Jobs that are trimmed or deleted before anybody has taken them leave nothing
-- behind but a gap between how many were added, how many are there, and how many the functions have dropped. Redis' process keeps
-- the last. P:ledger keeps what the last look saw: added, waiting, ended, gap (what is known to lack), and by which count:
-- of another process, or of functions that were loaded anew, it is none to compare with.

do

-- How many entries of a stream's consumers are there no more: whoever deleted them, the jobs are in somebody's hands.
local function gone_in_hand(stream)
  local n = 0
  local pending = redis.pcall('XPENDING', stream, GROUP, '-', '+', LIMIT.OWNED_LISTED_MAX)
  for _, item in ipairs(pending.err and {} or pending) do
    if not has_entry(stream, item[1]) then n = n + 1 end
  end
  return n
end

local function in_hand(stream)
  local pending = redis.pcall('XPENDING', stream, GROUP)
  return pending.err and 0 or pending[1]
end

-- Whether a worker of another version is at work: versions before this one do not count what they drop.
local function are_others_at_work(p, now)
  local n = redis.pcall('ZCOUNT', KEY.libraries(p), text(now - LIMIT.LIBRARY_SEEN_MS), '+inf')
  return type(n) == 'number' and n > 1
end

-- An entry with the highest id was added, and no other can follow it. Once nothing is left of the stream it is made anew.
-- Returns whether it was.
local function renew_exhausted(p, priority, stream, length, now)
  if length > 0 or in_hand(stream) > 0 then
    Alarms.set(p, 'exhausted|' .. priority, 'store', LIMIT.EXHAUSTED_ALARM_MS, stream .. ' takes no more jobs, since an entry with ' ..
      'the highest possible id was added to it; it is made anew when its ' .. text(length) .. ' entries have ended', now)
    return false
  end
  redis.call('UNLINK', stream, KEY.scout(p, priority), KEY.express(p, priority))
  redis.call('HDEL', KEY.ledger(p), 'added:' .. priority, 'gap:' .. priority, 'waiting:' .. priority)
  redis.call('HDEL', KEY.alarms(p), 'exhausted|' .. priority)
  return true
end

-- Names the count of this process.
local count

-- How many jobs were lost since the last look.
local function lost_since(p, priority, stream, added, length, now)
  local key = KEY.ledger(p)
  local r = redis.call('HMGET', key, 'count:' .. priority, 'added:' .. priority, 'waiting:' .. priority, 'ended:' .. priority,
    'gap:' .. priority)
  count = count or text(now)
  if r[1] ~= count then r = {} end
  local ended, before = Fairness.ended[stream] or 0, tonumber(r[2] or '0')
  local gap, lost = added - length - ended, 0
  local given = not r[5] and last_given(stream) or '0-0'
  -- At the first look nobody knows what was dropped before, unless nobody was given anything.
  local known = tonumber(r[5] or given == '0-0' and '0' or text(gap))
  if added < before then
    -- The stream was deleted: what waited then, but for what was ended since.
    lost = math.max(0, tonumber(r[3] or '0') - (ended - tonumber(r[4] or '0')))
  elseif gap > known and not are_others_at_work(p, now) then
    gap = gap - gone_in_hand(stream)
    lost = math.max(0, gap - known)
    gap = math.max(gap, known)
  end
  redis.call('HSET', key, 'added:' .. priority, text(added), 'waiting:' .. priority, text(math.max(0, length - in_hand(stream))),
    'ended:' .. priority, text(ended), 'gap:' .. priority, text(gap), 'count:' .. priority, count)
  return lost
end

-- Tells of jobs that were lost, with all that were while the alarm stands.
local function tell_lost(p, priority, stream, lost, now)
  local field, key = 'trimmed|' .. priority, KEY.ledger(p)
  if Alarms.left_ms(p, field, now) == 0 then redis.call('HDEL', key, 'lost:' .. priority) end
  local n = redis.call('HINCRBY', key, 'lost:' .. priority, lost)
  Alarms.set(p, field, 'store', LIMIT.ALARM_MS_MAX, text(n) .. ' jobs were deleted from ' .. stream .. ' before a worker took them, ' ..
    'and are lost: look for XADD with MAXLEN or MINID, XTRIM, XDEL and DEL, and leave the stream to the workers', now)
end

-- inspect_streams — no ARGV. Looks at the producers' streams, but for one with entries that are too large to be copied.
-- Reply: rows {priority, LOST, how many} | {priority, EXHAUSTED, how many entries are left} | {priority, RENEWED, 0}
local function inspect_streams(keys)
  local p, now, rows = keys[1], now_ms(), {}
  for _, priority in ipairs(PRIORITIES) do
    local stream = KEY.jobs(p, priority)
    local mean, is_heavy = large_mean(stream)
    local info = not mean and not is_heavy and redis.pcall('XINFO', 'STREAM', stream)
    if info then
      local fields = info.err and {} or fields_of(info)
      local added, length = fields['entries-added'], fields.length or 0
      local is_stream = not info.err or string.find(info.err, 'no such key', 1, true)
      if fields['last-generated-id'] == LIMIT.ENTRY_LAST then
        local is_new = renew_exhausted(p, priority, stream, length, now)
        rows[#rows + 1] = {priority, is_new and 'RENEWED' or 'EXHAUSTED', length}
        is_stream = not is_new
      end
      local lost = is_stream and (added or info.err) and lost_since(p, priority, stream, added or 0, length, now) or 0
      if lost > 0 then
        tell_lost(p, priority, stream, lost, now)
        rows[#rows + 1] = {priority, 'LOST', lost}
      end
    end
  end
  return rows
end

register('inspect_streams', inspect_streams, {'allow-oom'})

end
