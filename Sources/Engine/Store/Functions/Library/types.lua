-- Types. A value of another type under a key of ours, from a hand that meant another key or a program with the same prefix, would
-- stop all work that reads the key for as long as it stands there. So it is moved aside, under P:displaced:<name>, and the work
-- goes on: what the key had held was gone with the write of that value. The chunks among that are found missing by the reconciliation.
--
-- Left out are the keys whose loss is worse than their standstill, such as the counter of generations. What is switched off
-- (P:switches) must be looked at by somebody: that is an alarm, and is not moved.

local Types = {}  -- what later files use of it

do

local PER_PRIORITY = {
  jobs = 'stream', chunks = 'stream', ready_apps = 'zset', share = 'hash', scout = 'hash', express = 'list',
}
local SINGLE = {
  delayed = 'zset', open = 'set', finished = 'stream', dead = 'stream', uninstalled = 'stream', audit = 'stream',
  oldest = 'hash', promoter = 'string', leaving = 'list', workers = 'zset', workers_since = 'string', unbound = 'zset',
}

local function check_one(p, key, expected, now)
  local found = redis.call('TYPE', key).ok
  if found == 'none' or found == expected then return end
  local name = string.sub(key, #p + 2)
  local aside = KEY.displaced(p, name)
  redis.call('RENAME', key, aside)
  Alarms.set(p, 'wrong_type|' .. name, 'store', LIMIT.ALARM_MS_MAX, key .. ' held a ' .. found .. ', not a ' .. expected ..
    ': it was moved to ' .. aside .. ', and what the key had held before is lost; find out what writes keys with the prefix ' .. p,
    now)
end

local function check_switches(p, now)
  local key = KEY.switches(p)
  local found = redis.call('TYPE', key).ok
  if found == 'none' or found == 'hash' then return end
  Alarms.set(p, 'wrong_type|switches', 'store', LIMIT.SWITCHES_ALARM_MS, key .. ' holds a ' .. found .. ', not a hash: what was ' ..
    'switched off is lost, a worker that starts now sends nothing, and nothing can be switched off; delete the key, then switch off anew',
    now)
end

-- Moves aside what is of a wrong type: some 50 µs. First what the alarms of the others are written to.
local function check(p, now)
  check_one(p, KEY.alarms(p), 'hash', now)
  check_switches(p, now)
  for name, expected in pairs(SINGLE) do check_one(p, KEY[name](p), expected, now) end
  for name, expected in pairs(PER_PRIORITY) do
    for _, priority in ipairs(PRIORITIES) do check_one(p, KEY[name](p, priority), expected, now) end
  end
end

Types.check = check

end
