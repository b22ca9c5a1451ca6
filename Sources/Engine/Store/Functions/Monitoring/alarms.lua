-- Alarms: what operators are to look at, a field each of one HASH: JSON of at (ms, since when), until (ms, when it ends
-- unless it is renewed), by (who raised it last) and message. Here one that is over is dropped at the next raising;
-- readers look at `until`.

local Alarms = {}  -- what later files use of it

do

local function alarm_of(text)
  local ok, alarm = pcall(cjson.decode, text)
  if ok and type(alarm) == 'table' and tonumber(alarm['until']) then return alarm end
  return nil
end

-- Never raises: an alarm must not be able to stop the work.
local function set_alarm(p, field, by, life_ms, message, now)
  local key = KEY.alarms(p)
  local size = redis.pcall('HLEN', key)
  -- Far more fields than we set are another's, and too many to look through.
  if type(size) == 'table' or size > 2 * LIMIT.ALARMS_MAX then return end
  local flat = redis.pcall('HGETALL', key)
  if flat.err then return end
  local n, since = 0, nil
  for i = 1, #flat, 2 do
    local alarm = alarm_of(flat[i + 1])
    if not alarm or tonumber(alarm['until']) <= now then
      redis.call('HDEL', key, flat[i])
    else
      n = n + 1
      if flat[i] == field then since = tonumber(alarm.at) end
    end
  end
  if not since and n >= LIMIT.ALARMS_MAX then return end
  -- Numbers as text: cjson would turn them to exponents.
  redis.call('HSET', key, field, '{"at":' .. text(since or now) .. ',"until":' ..
    text(now + math.min(life_ms, LIMIT.ALARM_MS_MAX)) .. ',"by":' .. cjson.encode(by) .. ',"message":' ..
    cjson.encode(message) .. '}')
  redis.call('PEXPIRE', key, LIMIT.ALARM_MS_MAX)
end

-- For how long an alarm stands yet, in ms; 0 when it does not.
local function left_ms(p, field, now)
  local found = redis.pcall('HGET', KEY.alarms(p), field)
  local alarm = type(found) == 'string' and alarm_of(found)
  return alarm and math.max(0, tonumber(alarm['until']) - now) or 0
end

-- Has all alarms end as much earlier as the clock went back, but for those that were raised since.
local function go_back(p, by, now)
  local key = KEY.alarms(p)
  local flat = redis.pcall('HGETALL', key)
  if flat.err or #flat > 4 * LIMIT.ALARMS_MAX then return end
  for i = 1, #flat, 2 do
    local alarm = alarm_of(flat[i + 1])
    local at = alarm and tonumber(alarm.at)
    if at and (at > now or at < now - LIMIT.ALIVE_MS) then
      redis.call('HSET', key, flat[i], '{"at":' .. text(math.min(at, now)) .. ',"until":' .. text(tonumber(alarm['until']) - by) ..
        ',"by":' .. cjson.encode(alarm.by or '') .. ',"message":' .. cjson.encode(alarm.message or '') .. '}')
    end
  end
end

-- How many there are at most; some may be over.
local function count(p)
  local size = redis.pcall('HLEN', KEY.alarms(p))
  return type(size) == 'table' and 0 or size
end

-- Work was not where the records say: Redis lost it, or something else writes to our keys.
local function alarm_lost_work(p, app, what, now)
  set_alarm(p, 'lost_work|' .. app, 'store', LIMIT.ALARM_MS_MAX, app .. ': ' .. what .. '; look for what deletes keys or ' ..
    'streams in Redis', now)
end

-- raise_alarm — ARGV: field, by, life ms, message. Raises or renews it. Reply: OK
local function raise_alarm(keys, args)
  set_alarm(keys[1], args[1], args[2], tonumber(args[3]), args[4], now_ms())
  return 'OK'
end

-- clear_alarm — ARGV: field, by. Ends an alarm that nobody else has renewed since. Reply: 1 or 0
local function clear_alarm(keys, args)
  local key = KEY.alarms(keys[1])
  local alarm = alarm_of(redis.call('HGET', key, args[1]) or '')
  if not alarm or alarm.by ~= args[2] then return 0 end
  return redis.call('HDEL', key, args[1])
end

register('raise_alarm', raise_alarm, {'allow-oom'})
register('clear_alarm', clear_alarm, {'allow-oom'})

Alarms.set = set_alarm
Alarms.left_ms = left_ms
Alarms.go_back = go_back
Alarms.count = count
Alarms.lost_work = alarm_lost_work

end
