-- Types. A value of another type under a key of ours, from a hand that meant another key or a program with the same prefix, would
-- stop all work that reads the key for as long as it stands there. So it is moved aside, under P:displaced:<name>, and the work
-- goes on: what the key had held was gone with the write of that value. The chunks among that are found missing by the reconciliation.
--
-- Those whose loss is worse than their standstill stay where they are, and are an alarm until somebody has looked at them. What is
-- switched off (P:switches) would go out: workers keep to what they have read, and those that have read nothing send nothing. The
-- counter of generations would begin again, and a generation must not come twice. Jobs to all (P:indexed) would be refused.

local Types = {}  -- what later files use of it

do

local PER_PRIORITY = {
  jobs = 'stream', chunks = 'stream', ready_apps = 'zset', share = 'hash', scout = 'hash', express = 'list',
}
local SINGLE = {
  delayed = 'zset', open = 'set', finished = 'stream', dead = 'stream', uninstalled = 'stream', audit = 'stream',
  oldest = 'hash', promoter = 'string', leaving = 'list', workers = 'zset', workers_since = 'string', unbound = 'zset',
  timeline = 'stream', totals = 'hash', keys = 'hash', acts = 'stream',
  shards = 'hash', elsewhere = 'hash',
}
-- Their types, and what is said of them.
local STAYING = {
  switches = {'hash', 'what was switched off is lost, and nothing can be switched off; a worker that starts now sends nothing; ' ..
    'to delete the key would switch all on: put what is to be off in its place, as redis-cli HSET KEY:new "app|shop" why, ' ..
    'then redis-cli RENAME KEY:new KEY'},
  generation = {'string', 'no device can be installed; write a number there that is higher than any before: ' ..
    'redis-cli SET KEY $(date +%s)000'},
  shard = {'string', 'no worker of a fleet of several shards begins here; delete the key, and the next one writes it'},
  indexed = {'hash', 'jobs to all and to channels wait; delete the key, and run pushpool index for each app; ' ..
    'until that has ended such jobs become dead letters (not_indexed), to be tried again'},
}

-- What stands under a key if that is of another type.
local function wrong_type(key, expected)
  local found = redis.call('TYPE', key).ok
  return found ~= 'none' and found ~= expected and found
end

local function check_one(p, key, expected, now, kept_s)
  local found = wrong_type(key, expected)
  if not found then return end
  local name = string.sub(key, #p + 2)
  local aside = KEY.displaced(p, name)
  redis.call('RENAME', key, aside)
  if kept_s then redis.call('EXPIRE', aside, kept_s) end
  Alarms.set(p, 'wrong_type|' .. name, 'store', LIMIT.ALARM_MS_MAX, key .. ' held a ' .. found .. ', not a ' .. expected ..
    ': it was moved to ' .. aside .. ', and what the key had held before is lost; find out what writes keys with the prefix ' .. p,
    now)
end

local function tell_one(p, name, expected, words, now)
  local key = KEY[name](p)
  local found = wrong_type(key, expected)
  if not found then return end
  Alarms.set(p, 'wrong_type|' .. name, 'store', LIMIT.STAYING_ALARM_MS, key .. ' holds a ' .. found .. ', not a ' .. expected ..
    ': ' .. string.gsub(words, 'KEY', function() return key end), now)
end

-- Moves aside what is of a wrong type: some 50 µs. First what the alarms of the others are written to.
local function check(p, now)
  check_one(p, KEY.alarms(p), 'hash', now)
  for name, of in pairs(STAYING) do tell_one(p, name, of[1], of[2], now) end
  -- What is of the minute that has begun: each one has a name of its own, so they would become many.
  check_one(p, KEY.metrics(p, minute_of(now)), 'hash', now, LIMIT.METRICS_S)
  for name, expected in pairs(SINGLE) do check_one(p, KEY[name](p), expected, now) end
  for name, expected in pairs(PER_PRIORITY) do
    for _, priority in ipairs(PRIORITIES) do check_one(p, KEY[name](p, priority), expected, now) end
  end
end

Types.check = check

end
