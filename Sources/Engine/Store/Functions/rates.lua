-- Rates that a fleet keeps to: token buckets by the server's clock.

do

-- draw_rate — ARGV: name, rate per second, wanted, ramp ms (0: none). A token bucket: in any time t it grants at
-- most rate x t and what it holds at once, a tenth of a second's (1 at least). With a ramp it begins at a part of
-- the rate and reaches all of it after so long, anew when it was idle.
-- Reply: {granted, ms after which asking again is worth it}
local function draw_rate(keys, args)
  local key = KEY.rate(keys[1], args[1])
  local rate, wanted, ramp = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
  local r = redis.call('HMGET', key, 'tokens', 'at', 'since')
  local at, since = tonumber(r[2] or now), tonumber(r[3] or now)
  if now - at > LIMIT.RATE_IDLE_MS or since > now then since = now end
  if ramp > 0 then rate = rate * math.min(1, LIMIT.RATE_RAMP_FROM + (1 - LIMIT.RATE_RAMP_FROM) * (now - since) / ramp) end
  local burst = math.max(1, rate * LIMIT.RATE_BURST_S)
  -- A clock that was set back brings nothing.
  local tokens = math.min(burst, tonumber(r[1] or burst) + math.max(0, now - at) * rate / 1000)
  local granted = math.min(wanted, math.floor(tokens))
  tokens = tokens - granted
  redis.call('HSET', key, 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now), 'since',
    string.format('%.3f', since))
  redis.call('EXPIRE', key, LIMIT.RATE_LIFE_S)
  local missing = math.min(math.max(1, wanted - granted), math.max(1, burst / 2)) - tokens
  return {granted, math.max(1, math.min(LIMIT.RATE_WAIT_MS_MAX, math.ceil(missing * 1000 / rate)))}
end

register('draw_rate', draw_rate, {'allow-oom'})

end
