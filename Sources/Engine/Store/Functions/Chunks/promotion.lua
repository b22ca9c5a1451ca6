-- Promotion: what becomes of delayed chunks when their time has come.

do

-- Whether another worker does the promoting, and for how many ms yet.
local function promoter_ms(p, owner)
  local key = KEY.promoter(p)
  local other = redis.call('GET', key)
  if other and other ~= owner then return math.max(1, redis.call('PTTL', key)) end
  redis.call('SET', key, owner, 'PX', LIMIT.PROMOTER_MS)
  return nil
end

-- promote — ARGV: max, consumer or '' (whoever does the promoting). Puts delayed chunks that are due in line with those of
-- their app, and moves the next ones into the streams as far as these have room; `claim` goes on with that. One
-- worker of the fleet does it as long as it comes again.
-- Beside that it goes on where users are yet to leave channels.
-- Reply: {taken from the delayed set, ms until there is more to do or the promoting free, or -1}
local function promote(keys, args)
  local p, max, now = keys[1], tonumber(args[1]), now_ms()
  local others_ms = args[2] ~= '' and promoter_ms(p, args[2])
  if others_ms then return {0, others_ms} end
  local delayed, taken, bytes, apps, again = KEY.delayed(p), 0, 0, {}, nil
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, max)
  for i = 1, #due, 2 do
    local c = Chunk.unpack(due[i])
    if c.segment ~= Chunk.READ_ON then
      again = again or Ready.look_again_at(p, now)
      Ready.add(p, c.priority, c.app, due[i], due[i + 1], again, now)
      apps[c.priority .. ':' .. c.app] = c
    -- What is left of a cancelled job takes half of the call at most: others' chunks are moved meanwhile.
    elseif taken < LIMIT.READS_PROMOTED_MAX and bytes < LIMIT.DROPPED_BYTES_MAX / 2 then
      -- It may come back at once, for the next promotion.
      redis.call('ZREM', delayed, due[i])
      local _, dropped = Chunks.route(p, c, now, 0)
      taken, bytes = taken + 1, bytes + dropped
    end
  end
  for _, c in pairs(apps) do Ready.keep(p, c.priority, c.app) end
  for _, priority in ipairs(PRIORITIES) do
    local filled
    filled, bytes = Leases.fill(p, priority, max - taken, bytes, now)
    taken = taken + filled
  end
  local most = Bindings.leave_on(p, {steps = LIMIT.LEFT_AT_ONCE}) and LIMIT.LEAVING_MS
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  if #first == 0 then return {taken, most or -1} end
  -- What it had no time for is due.
  local is_short = bytes >= LIMIT.DROPPED_BYTES_MAX / 2
  local next_ms = is_short and 0 or math.max(0, tonumber(first[2]) - now)
  return {taken, most and math.min(most, next_ms) or next_ms}
end

register('promote', promote, {'allow-oom'})

end
