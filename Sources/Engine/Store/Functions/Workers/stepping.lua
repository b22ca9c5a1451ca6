-- Steps of the server's clock. One that goes back leaves times in the future. By them a worker that died before looks alive, its leases
-- look renewed and its alarms stand, until the clock has caught up. So whoever beats first after a step brings these times back: from
-- then on silence is measured by one clock again.

local Stepping = {}  -- what later files use of it

do

-- What a ZSET says of the future happened now at the latest.
local function bring_back(key, now)
  local early = redis.pcall('ZRANGEBYSCORE', key, '(' .. text(now), '+inf', 'LIMIT', 0, LIMIT.STEPPED_MAX)
  for _, member in ipairs(early.err and {} or early) do redis.call('ZADD', key, text(now), member) end
end

-- What was put aside by the clock that was ahead comes as much earlier. What waits for a time of its own is looked at by then, and
-- waits on.
local function hurry(p, by, now)
  local key = KEY.delayed(p)
  local late = redis.pcall('ZRANGEBYSCORE', key, text(now + by), '+inf', 'WITHSCORES', 'LIMIT', 0, LIMIT.STEPPED_MAX)
  if late.err then return end
  for first = 1, #late, LIMIT.WORDS_MAX do
    local scored = {}
    for i = first, math.min(first + LIMIT.WORDS_MAX, #late + 1) - 1, 2 do
      scored[#scored + 1], scored[#scored + 2] = text(tonumber(late[i + 1]) - by), late[i]
    end
    redis.call('ZADD', key, unpack(scored))
  end
end

-- Leases of a stream that begin in the future begin now. Redis says of such a one that its holder was not idle at all. Whose
-- they are, and how often they were lost, stays.
local function begin_anew(stream)
  local from, left = '-', LIMIT.STEPPED_MAX
  repeat
    local pending, of = redis.pcall('XPENDING', stream, GROUP, from, '+', LIMIT.WORDS_MAX), {}
    if pending.err then return end
    for _, item in ipairs(pending) do
      local entry, consumer, idle = unpack(item)
      if idle == 0 then
        of[consumer] = of[consumer] or {}
        table.insert(of[consumer], entry)
      end
      from = '(' .. entry
    end
    for consumer, entries in pairs(of) do
      entries[#entries + 1] = 'JUSTID'
      redis.call('XCLAIM', stream, GROUP, consumer, 0, unpack(entries))
    end
    left = left - #pending
  until #pending < LIMIT.WORDS_MAX or left <= 0
end

-- Brings times back after the clock went back by so many ms, as the latest beat tells.
local function go_back(p, by, now)
  bring_back(KEY.workers(p), now)
  bring_back(KEY.routes(p), now)
  for _, kind in ipairs({'jobs', 'chunks'}) do
    for _, priority in ipairs(PRIORITIES) do begin_anew(KEY[kind](p, priority)) end
  end
  hurry(p, by, now)
  -- Who has died keeps nobody from these for longer than it would have.
  redis.call('PEXPIRE', KEY.promoter(p), LIMIT.PROMOTER_MS, 'LT')
  redis.call('PEXPIRE', KEY.routes_gathering(p), LIMIT.ROUTE_ALIVE_MS, 'LT')
  Alarms.go_back(p, by, now)
end

Stepping.go_back = go_back

end
