-- Alarms of routes: no_worker stands while something waits for a route that no worker has. What was cancelled, has expired or
-- left its list waits no more; it stays where it is, for whoever has the route or for the end of its time.
--
-- HASH P:unrouted:looked: route → JSON. {kind, rank, member}: of what is listed, nothing before this member waits any more.
-- {'none', n}: nothing of the n that are listed does. A route that is not there is looked at from the start.

local RouteAlarms = {}  -- what later files use of it

do

local KINDS = {'jobs', 'chunks'}

-- Of these the last is left to the next call. So each call looks at one more, however many other routes there are.
local LOOKS_MIN = 2

local function split(route)
  local app, place = string.match(route, '^([^|]*)|?(.*)$')
  return app, place
end

local function alarm_field(route) return 'no_worker|' .. route end

-- The shard in which an app lives, when that is another one.
local function shard_of(p, app)
  local shard = redis.pcall('HGET', KEY.elsewhere(p), app)
  return type(shard) == 'string' and shard or nil
end

local function complaint(p, route)
  local app, place = split(route)
  if place == '' then
    local shard = shard_of(p, app)
    if shard then return '"' .. app .. '" lives in the shard "' .. shard .. '", which took no job that was added here' end
    local hint = redis.call('HGET', KEY.route_hints(p), route)
    return 'no worker has the app "' .. app .. '" in its configuration' ..
      (hint and '; did you mean "' .. hint .. '"?' or '')
  end
  local network, environment = string.match(place, '^(.*)|(.*)$')
  return 'no worker has credentials of "' .. app .. '" for ' .. network .. ' (' .. environment .. ')'
end

-- What to do about a job that nobody took.
local function remedy(p, route)
  if shard_of(p, route) then return '; when that shard is there again retry this, and have producers add jobs there' end
  return '; add it under apps and retry this, or correct the name'
end

local function place_of(p, route)
  local found = redis.pcall('HGET', KEY.routes_looked(p), route)
  local ok, place = pcall(cjson.decode, type(found) == 'string' and found or '')
  return ok and type(place) == 'table' and place or {}
end

-- How many of a list stand before a member, or before its rank when it is not there any more.
local function before(key, rank, member)
  if redis.call('ZSCORE', key, member) == rank then return redis.call('ZRANK', key, member) end
  return redis.call('ZCOUNT', key, '-inf', '(' .. rank)
end

-- Some jobs that wait for a route, for people: from where the last look found one that does.
local function some_jobs(p, route)
  local ids, has_named = {}, {}
  local kind, rank, member = unpack(place_of(p, route))
  if kind == 'none' then kind = nil end
  for _, each in ipairs(KINDS) do
    if not kind or kind == each then
      local key = KEY.route_waiting(p, each, route)
      local from = kind and before(key, rank, member) or 0
      kind = nil
      for _, found in ipairs(redis.call('ZRANGE', key, from, from + LIMIT.ROUTE_NAMES_LOOKED_MAX - 1)) do
        local ok, words = pcall(cjson.decode, found)
        local id = ok and type(words) == 'table' and words[each == 'jobs' and 5 or 3]
        if type(id) == 'string' and not has_named[id] and #ids < LIMIT.ROUTE_NAMES_MAX then
          ids[#ids + 1], has_named[id] = id, true
        end
      end
    end
  end
  return #ids > 0 and ', such as ' .. table.concat(ids, ', ') .. ',' or ''
end

-- is_held: whether a worker would have the route, were its app not left out.
local function raise(p, route, wait_ms, now, is_held)
  local ok, jobs = pcall(some_jobs, p, route)
  if not ok then jobs = '' end
  if is_held then
    return Alarms.set(p, alarm_field(route), 'routes', LIMIT.ROUTE_ALARM_MS, 'no worker can send for "' .. split(route) ..
      '", which is left out since a file or a secret of it is bad: its jobs' .. jobs ..
      ' wait until that is mended; see the alarm left_out', now)
  end
  if shard_of(p, route) then
    return Alarms.set(p, alarm_field(route), 'routes', LIMIT.ROUTE_ALARM_MS, complaint(p, route) .. ': its jobs' .. jobs ..
      ' wait for that shard, and become dead letters after ' .. text(wait_ms / 1000) ..
      ' s; see to the shard, and have producers add jobs there', now)
  end
  local what = string.find(route, '|', 1, true) and (jobs == '' and ': its pushes' or ': its pushes in jobs') or ': its jobs'
  Alarms.set(p, alarm_field(route), 'routes', LIMIT.ROUTE_ALARM_MS, complaint(p, route) .. what .. jobs ..
    ' wait for one, and become dead letters after ' .. text(wait_ms / 1000) ..
    ' s; start a worker that has it, or see: pushpool dead list', now)
end

local function clear(p, route) redis.call('HDEL', KEY.alarms(p), alarm_field(route)) end

local function forget_route(p, route)
  redis.call('ZREM', KEY.routed(p), route)
  if redis.call('ZREM', KEY.unrouted(p), route) == 1 then
    redis.call('HDEL', KEY.route_hints(p), route)
    redis.pcall('HDEL', KEY.routes_looked(p), route)
    clear(p, route)
  end
end

local function listed(p, route)
  return redis.call('ZCARD', KEY.route_waiting(p, 'jobs', route)) + redis.call('ZCARD', KEY.route_waiting(p, 'chunks', route))
end

local function is_idle(p, route) return listed(p, route) == 0 end

-- ---------------------------------------------------------------------------------------------------------
-- What waits yet

local function has_expired(at, now) return at and at > 0 and at <= now end

local function job_waits(p, route, member, now)
  -- Older versions do not say when it expires.
  local _, priority, entry, _, id, expires = unpack(cjson.decode(member))
  if has_expired(tonumber(expires), now) then return false end
  local record = redis.call('HMGET', KEY.job(p, route, id), 'source', 'admitted', 'state')
  return not (record[1] == source_of(priority, entry) and not record[2] and record[3] == 'cancelled')
end

local function chunk_waits(p, _, member, now)
  if not redis.call('ZSCORE', KEY.delayed(p), member) then return false end
  local c = Chunk.unpack(member)
  local state = Chunks.state_for(p, c)
  if state == 'gone' or state == 'cancelled' then return false end
  return not has_expired(Switches.expiry_of(p, c.app, c.job), now)
end

local WAITS = {jobs = job_waits, chunks = chunk_waits}

-- Also what cannot be read: whoever gets it will see.
local function waits(p, route, kind, member, now)
  local ok, answer = pcall(WAITS[kind], p, route, member, now)
  return not ok or answer
end

local function go_to(p, route, ...) redis.pcall('HSET', KEY.routes_looked(p), route, cjson.encode({...})) end

-- Whether anything waits for a route yet, or may: what is looked at in one call is counted in `budget.looks`, and the next call
-- goes on from there.
local function is_waited_for(p, route, budget, now)
  local count = listed(p, route)
  local kind, rank, member = unpack(place_of(p, route))
  if kind == 'none' then
    if count == rank then return false end
    -- Added by an older version, which does not say so.
    if count < rank then
      go_to(p, route, 'none', count)
      return false
    end
    kind = nil
  end
  for _, each in ipairs(KINDS) do
    if not kind or kind == each then
      local key = KEY.route_waiting(p, each, route)
      local from = kind and before(key, rank, member) or 0
      kind = nil
      local max = math.max(LOOKS_MIN, budget.looks)
      local members = redis.call('ZRANGE', key, from, from + max - 1, 'WITHSCORES')
      for i = 1, #members, 2 do
        budget.looks = budget.looks - 1
        local is_last = i == 2 * max - 1
        if is_last or waits(p, route, each, members[i], now) then
          go_to(p, route, each, members[i + 1], members[i])
          return true
        end
      end
    end
  end
  go_to(p, route, 'none', count)
  return false
end

-- Something began to wait for a route. It is looked at, wherever in the order it stands.
local function added(p, route, kind, rank, member, wait_ms, now)
  local place = place_of(p, route)
  local at = place[1]
  if at == 'none' then
    go_to(p, route, kind, rank, member)
    raise(p, route, wait_ms, now)
  elseif at == kind and tonumber(rank) < tonumber(place[2]) or at == 'chunks' and kind == 'jobs' then
    go_to(p, route, kind, rank, member)
  end
end

RouteAlarms.split = split
RouteAlarms.complaint = complaint
RouteAlarms.remedy = remedy
RouteAlarms.raise = raise
RouteAlarms.clear = clear
RouteAlarms.forget_route = forget_route
RouteAlarms.is_idle = is_idle
RouteAlarms.is_waited_for = is_waited_for
RouteAlarms.added = added

end
