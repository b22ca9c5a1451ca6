-- Rates that a fleet keeps to, and the paces of jobs: token buckets by the server's clock.

local Rates = {}  -- what later files use of it

do

-- Takes from a bucket what is wanted, as far as it has that. r: its tokens and when they were counted, as Redis has them.
-- Returns how many were granted, how many are left, and after how many ms asking again is worth it.
local function take(r, rate, burst, wanted, now)
  local at = tonumber(r[2] or now)
  -- A clock that was set back brings nothing.
  local tokens = math.min(burst, tonumber(r[1] or burst) + math.max(0, now - at) * rate / 1000)
  local granted = math.min(wanted, math.floor(tokens))
  tokens = tokens - granted
  local missing = math.min(math.max(1, wanted - granted), math.max(1, burst / 2)) - tokens
  return granted, tokens, math.max(1, math.min(LIMIT.RATE_WAIT_MS_MAX, math.ceil(missing * 1000 / rate)))
end

-- The server's clock in ms and parts of them.
local function exact_now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
end

-- draw_rate — ARGV: name, rate per second, wanted, ramp ms (0: none). A token bucket: in any time t it grants at
-- most rate x t and what it holds at once, a tenth of a second's (1 at least). With a ramp it begins at a part of
-- the rate and reaches all of it after so long, anew when it was idle.
-- Reply: {granted, ms after which asking again is worth it}
local function draw_rate(keys, args)
  local key = KEY.rate(keys[1], args[1])
  local rate, wanted, ramp = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  local now = exact_now()
  local r = redis.call('HMGET', key, 'tokens', 'at', 'since')
  local at, since = tonumber(r[2] or now), tonumber(r[3] or now)
  if now - at > LIMIT.RATE_IDLE_MS or since > now then since = now end
  if ramp > 0 then rate = rate * math.min(1, LIMIT.RATE_RAMP_FROM + (1 - LIMIT.RATE_RAMP_FROM) * (now - since) / ramp) end
  local burst = math.max(1, rate * LIMIT.RATE_BURST_S)
  local granted, tokens, retry = take(r, rate, burst, wanted, now)
  redis.call('HSET', key, 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now), 'since',
    string.format('%.3f', since))
  redis.call('EXPIRE', key, LIMIT.RATE_LIFE_S)
  return {granted, retry}
end

-- How many pushes of a job may be made in a second now; nil when it keeps to no pace.
local function pace_of(p, app, job, now)
  local r = redis.call('HMGET', KEY.job(p, app, job), 'pushes_per_second', 'spread_over_seconds', 'started_at', 'pending')
  if r[1] then return tonumber(r[1]) end
  if not r[2] or not r[3] then return nil end
  local left = tonumber(r[3]) + tonumber(r[2]) * 1000 - now
  -- What is open then is late.
  if left <= 0 then return nil end
  return math.max(1, tonumber(r[4] or '0')) * 1000 / left
end

-- draw_pace — ARGV: app, job, wanted. Reply: {how many pushes of the job may be made now, ms after which asking again is worth
-- it}
local function draw_pace(keys, args)
  local p, app, job, wanted, now = keys[1], args[1], args[2], tonumber(args[3]), exact_now()
  local rate = pace_of(p, app, job, now)
  if not rate then return {wanted, 1} end
  local key = KEY.pace(p, app, job)
  local r = redis.call('HMGET', key, 'tokens', 'at')
  local granted, tokens, retry = take(r, rate, math.max(1, rate * LIMIT.PACE_BURST_S), wanted, now)
  redis.call('HSET', key, 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
  redis.call('EXPIRE', key, LIMIT.RATE_LIFE_S)
  return {granted, retry}
end

-- How many chunks of a job are worked on at a time that sends so many pushes a second: these wait on lanes, where others of its
-- app need room.
local function window_of(per_second, window)
  return math.min(window, 2 + math.floor(per_second / LIMIT.PACE_PER_CHUNK))
end

-- Whether nobody has drawn from a job's pace for longer than a lane waits that has a chunk of it.
local function stands_still(p, app, job, now)
  local at = tonumber(redis.call('HGET', KEY.pace(p, app, job), 'at') or '0')
  return now - at >= LIMIT.PACE_STILL_MS
end

register('draw_rate', draw_rate, {'allow-oom'})
register('draw_pace', draw_pace, {'allow-oom'})

Rates.window_of = window_of
Rates.stands_still = stands_still

end
