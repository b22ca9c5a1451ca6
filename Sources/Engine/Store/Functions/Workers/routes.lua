-- Routes. A route is an app, or an app, a network and an environment as app|network|environment. Workers may be of unequal
-- configuration, as during a deployment that adds an app: what a worker has no credentials for waits here for one that has.
--
-- HASH P:routes:<digest>: app → network|environment, with commas between them, or left_out for an app that the worker cannot send
-- for, since its files or secrets are bad; all workers of one configuration share it.
-- HASH P:routes:apps: the same of apps that stand in Redis, which come and go: all workers that have such apps share it and write it.
-- What a worker's own table says of an app counts for that worker instead.
-- ZSET P:routes: digest → when a worker last had it, of those seen within the time that work waits for a worker.
-- ZSET P:routed and P:unrouted: the routes that something waits for, those that a live worker has and those that none has
-- (since when). ZSET P:unrouted:jobs:<route> and P:unrouted:chunks:<route>: what waits, the higher priority first, then the
-- older.
--
-- A job that waits stays in its stream, where operators find it; it is nobody's, and not delivered again. A chunk that waits
-- is in the delayed set, where the reconciliation finds it, and due when it expires or would have been given up: whoever gets it then
-- passes it on again, so nothing is lost with these ZSETs.

local Routes = {}  -- what later files use of it

do

-- The places of an app that a configuration names, and its worker has left out.
local LEFT_OUT = 'left_out'

-- The table of apps that stand in Redis, in place of a digest.
local SHARED = 'apps'

-- Added to the time at which something began to wait, so that it is found in the order of its priority.
local RANK = {}
for place = 1, #PRIORITIES do RANK[PRIORITIES[place]] = (place - 1) * 1e13 end

-- The digests of configurations that a worker has now, and of those that one had within the time that work waits: of many the
-- latest.
local function live_digests(p, now)
  return redis.call('ZREVRANGEBYSCORE', KEY.routes(p), '+inf', text(now - LIMIT.ROUTE_ALIVE_MS), 'LIMIT', 0,
    LIMIT.ROUTE_DIGESTS_MAX)
end

local function known_digests(p) return redis.call('ZREVRANGE', KEY.routes(p), 0, LIMIT.ROUTE_DIGESTS_MAX - 1) end

-- Those of the routes that one of the configurations has, as a set; and those that one would have, were the app not left out.
local function routes_among(p, digests, routes)
  local apps, places, found, held = {}, {}, {}, {}
  if #routes == 0 then return found, held end
  for i, route in ipairs(routes) do apps[i], places[i] = RouteAlarms.split(route) end
  for _, digest in ipairs(digests) do
    local values = redis.call('HMGET', KEY.routes_of(p, digest), unpack(apps))
    for i, route in ipairs(routes) do
      if values[i] == LEFT_OUT then
        held[route] = true
      elseif values[i] and (places[i] == '' or string.find(values[i], places[i], 1, true)) then
        found[route] = true
      end
    end
  end
  return found, held
end

-- Those of the routes that a worker of this configuration has, as a set. is_sharing: whether it has the apps of Redis, too.
local function routes_of_worker(p, digest, is_sharing, routes)
  local apps, places, found = {}, {}, {}
  if #routes == 0 then return found end
  for i, route in ipairs(routes) do apps[i], places[i] = RouteAlarms.split(route) end
  local own = redis.call('HMGET', KEY.routes_of(p, digest), unpack(apps))
  local shared = is_sharing and redis.call('HMGET', KEY.routes_of(p, SHARED), unpack(apps)) or {}
  for i, route in ipairs(routes) do
    local value = own[i] or shared[i]
    if value and value ~= LEFT_OUT and (places[i] == '' or string.find(value, places[i], 1, true)) then found[route] = true end
  end
  return found
end

-- Whether a worker has the route, would have it, or had it so lately that work waits for it; also when that cannot be read.
local function could_send(p, route)
  local ok, found, held = pcall(function() return routes_among(p, known_digests(p), {route}) end)
  return not ok or found[route] or held[route] or false
end

-- Whether the fleet has only just begun: its other workers, which may have any route, have not said so yet.
local function is_gathering(p)
  return redis.call('EXISTS', KEY.routes_gathering(p)) == 1 or redis.call('EXISTS', KEY.routes(p)) == 0
end

local function is_listed(p, route)
  return redis.call('ZSCORE', KEY.routed(p), route) or redis.call('ZSCORE', KEY.unrouted(p), route)
end

-- Lists a route that something begins to wait for; an alarm when nobody has it.
local function list(p, route, hint, wait_ms, now)
  if routes_among(p, live_digests(p, now), {route})[route] then
    redis.call('ZADD', KEY.routed(p), text(now), route)
    return
  end
  redis.call('ZADD', KEY.unrouted(p), text(now), route)
  if hint ~= '' then redis.call('HSET', KEY.route_hints(p), route, hint) end
  local _, held = routes_among(p, known_digests(p), {route})
  RouteAlarms.raise(p, route, wait_ms, now, held[route])
end

-- ---------------------------------------------------------------------------------------------------------
-- What workers have

-- publish_routes — ARGV: digest, life s, (app, its places)… Says what workers of a configuration have. Reply: OK
local function publish_routes(keys, args)
  local key = KEY.routes_of(keys[1], args[1])
  -- By twos, so that no app is parted from its places.
  for first = 3, #args, LIMIT.WORDS_MAX do
    redis.call('HSET', key, unpack(args, first, math.min(first + LIMIT.WORDS_MAX - 1, #args)))
  end
  redis.call('EXPIRE', key, args[2])
  return 'OK'
end

-- Gives up a job that nobody can take; one that is paused waits on, one that was cancelled just ends. retention: how long its
-- record is kept, in s, or nil. Returns the bytes of its text.
local function bury_job(p, route, member, now, retention)
  local _, priority, entry, _, id, _, given = unpack(cjson.decode(member))
  local stream, key = KEY.jobs(p, priority), KEY.job(p, route, id)
  local pending = redis.pcall('XPENDING', stream, GROUP, entry, entry, 1)
  local items = redis.call('XRANGE', stream, entry, entry)
  if #items == 0 or (not pending.err and #pending > 0) then return 0 end
  local record = redis.call('HMGET', key, 'source', 'admitted', 'state')
  if record[1] == source_of(priority, entry) and not record[2] then
    if record[3] == 'paused' then
      redis.call('ZADD', KEY.route_waiting(p, 'jobs', route), text(RANK[priority] + now), member)
      return 0
    end
    drop_uploaded(p, record[1])
    if record[3] == 'cancelled' then
      redis.call('EXPIRE', key, retention or LIMIT.RECORD_S)
      Fairness.drop_job(p, priority, entry)
      return 0
    end
    redis.call('DEL', key)
  end
  local job = fields_of(items[1][2]).job or ''
  if type(given) == 'string' then job = string.gsub(job, '{', '{"id":' .. cjson.encode(given) .. ',', 1) end
  local told = {reason = 'unknown_app', field = '/app', message = RouteAlarms.complaint(p, route) ..
    RouteAlarms.remedy(p, route), app = route, id = id, priority = priority, entry = entry}
  local letter = Refusals.add_letter(p, now, told, 'job', job, 'truncated', '0')
  Refusals.record(p, now, told, letter, retention)
  Fairness.drop_job(p, priority, entry)
  return #job
end

-- Gives up a chunk that nobody can send, unless it does not wait any more. Returns the bytes of its recipients, and whether
-- the job's users_key may have been read on for it, which costs as much as many.
local function bury_chunk(p, route, member, now)
  if redis.call('ZREM', KEY.delayed(p), member) == 0 then return 0 end
  local c = Chunk.unpack(member)
  if Chunks.state_for(p, c) ~= 'running' then
    Chunks.route(p, c, now, 0)
    return 0
  end
  local bytes = redis.call('STRLEN', KEY.segment(p, c.segment, c.source))
  local has_read = redis.call('HEXISTS', KEY.job(p, c.app, c.job), 'scan') == 1
  Chunks.bury_chunk(p, c, 'no_worker', RouteAlarms.complaint(p, route) .. '; configure it and retry this', now)
  return bytes, has_read
end

-- Gives up what has waited too long for a route. Returns what is left of the numbers that may be given up.
local function bury_overdue(p, route, wait_ms, now, left, retention)
  for kind, bury in pairs({jobs = bury_job, chunks = bury_chunk}) do
    local key = KEY.route_waiting(p, kind, route)
    for _, priority in ipairs(PRIORITIES) do
      local base = RANK[priority]
      local overdue = left.items > 0 and left.bytes > 0 and redis.call('ZRANGEBYSCORE', key, text(base),
        text(base + now - wait_ms), 'LIMIT', 0, left.items) or {}
      for _, member in ipairs(overdue) do
        if left.bytes <= 0 or left.items <= 0 then break end
        redis.call('ZREM', key, member)
        local bytes, has_read = bury(p, route, member, now, retention)
        left.items = left.items - (has_read and LIMIT.ROUTE_BURIED_MAX / 2 or 1)
        left.bytes = left.bytes - bytes
      end
    end
  end
end

-- Looks after the routes that something waits for, some in each call, for the whole fleet once in a while. Returns whether
-- there is more to do.
local function sweep(p, wait_ms, now, retention)
  local key = KEY.route_sweep(p)
  local r = redis.call('HMGET', key, 'at', 'cursor')
  local at = tonumber(r[1] or '0')
  if at <= now and now < at + LIMIT.ROUTE_SWEEP_MS then return end
  local live = live_digests(p, now)
  local routed = redis.call('ZRANGE', KEY.routed(p), 0, LIMIT.ROUTES_SWEPT_MAX - 1)
  local found = routes_among(p, live, routed)
  for _, route in ipairs(routed) do
    if RouteAlarms.is_idle(p, route) then
      RouteAlarms.forget_route(p, route)
    elseif found[route] then
      -- Behind those that were not looked at.
      redis.call('ZADD', KEY.routed(p), text(now), route)
    else
      redis.call('ZREM', KEY.routed(p), route)
      redis.call('ZADD', KEY.unrouted(p), text(now), route)
    end
  end
  local cursor = tonumber(r[2] or '0')
  local unrouted = redis.call('ZRANGE', KEY.unrouted(p), cursor, cursor + LIMIT.ROUTES_SWEPT_MAX - 1, 'WITHSCORES')
  local routes, since = {}, {}
  for i = 1, #unrouted, 2 do
    routes[#routes + 1] = unrouted[i]
    since[unrouted[i]] = tonumber(unrouted[i + 1])
  end
  found = routes_among(p, live, routes)
  local _, held = routes_among(p, known_digests(p), routes)
  -- Nothing is given up while nobody knows who can send it, nor without a place for what is given up.
  local dead = redis.call('TYPE', KEY.dead(p)).ok
  local may_bury = not is_gathering(p) and (dead == 'none' or dead == 'stream')
  local left = {items = LIMIT.ROUTE_BURIED_MAX, bytes = LIMIT.ROUTE_BURIED_BYTES}
  local alarms, kept, budget = 0, 0, {looks = LIMIT.ROUTE_LOOKS_MAX}
  for _, route in ipairs(routes) do
    -- What waits for an app that is left out does so until somebody mends its files.
    if may_bury and since[route] <= now - wait_ms and not found[route] and not held[route] then
      bury_overdue(p, route, wait_ms, now, left, retention)
    end
    if RouteAlarms.is_idle(p, route) then
      RouteAlarms.forget_route(p, route)
    elseif found[route] then
      RouteAlarms.forget_route(p, route)
      redis.call('ZADD', KEY.routed(p), text(now), route)
    else
      kept = kept + 1
      if not RouteAlarms.is_waited_for(p, route, budget, now) then
        RouteAlarms.clear(p, route)
      elseif alarms < LIMIT.ROUTE_ALARMS_MAX then
        RouteAlarms.raise(p, route, wait_ms, now, held[route])
        alarms = alarms + 1
      end
    end
  end
  local is_end = #routes < LIMIT.ROUTES_SWEPT_MAX
  redis.call('HSET', key, 'at', text(now), 'cursor', is_end and '0' or text(cursor + kept))
  redis.call('PEXPIRE', key, LIMIT.ROUTE_ALARM_MS)
end

-- The fleet begins anew. No time has passed for what waits while there was nobody.
local function gather(p, now)
  redis.call('SET', KEY.routes_gathering(p), '1', 'PX', LIMIT.ROUTE_ALIVE_MS)
  for _, route in ipairs(redis.call('ZRANGE', KEY.unrouted(p), 0, LIMIT.ROUTES_WAITED_FOR_MAX - 1)) do
    redis.call('ZADD', KEY.unrouted(p), text(now), route)
  end
end

-- announce_routes — ARGV: digest, how long work waits for a worker (ms), life s, how long the records of jobs are kept that are given
-- up (s), how many apps of Redis the worker has, 1 when it has a table of its own to publish, else 0. Says that a worker of a
-- configuration lives, and looks after what waits.
-- Reply: {UNKNOWN} (publish the routes first), or {OK, 1 when something waits that this worker has, else 0, 1 when anything waits,
-- else 0, 1 while the fleet gathers, else 0, 0 when P:routes:apps lacks apps that the worker has, else 1, digest… (of the workers
-- that live, or did so lately)}
local function announce_routes(keys, args)
  local p, digest, wait_ms, now = keys[1], args[1], tonumber(args[2]), now_ms()
  if redis.call('EXPIRE', KEY.routes_of(p, digest), args[3]) == 0 and args[6] ~= '0' then return {'UNKNOWN'} end
  redis.call('ZREMRANGEBYSCORE', KEY.routes(p), '-inf', text(now - math.max(wait_ms, LIMIT.ROUTE_ALIVE_MS)))
  if redis.call('EXISTS', KEY.routes(p)) == 0 then
    gather(p, now)
  end
  redis.call('ZADD', KEY.routes(p), text(now), digest)
  local apps, is_shared = tonumber(args[5]), 1
  if apps > 0 then
    if redis.call('HLEN', KEY.routes_of(p, SHARED)) >= apps then
      redis.call('EXPIRE', KEY.routes_of(p, SHARED), args[3])
      redis.call('ZADD', KEY.routes(p), text(now), SHARED)
    else
      is_shared = 0
    end
  end
  local has_work, has_any = 0, 0
  if redis.call('EXISTS', KEY.routed(p), KEY.unrouted(p)) > 0 then
    has_any = 1
    sweep(p, wait_ms, now, args[4])
    local routed = redis.call('ZRANGE', KEY.routed(p), 0, LIMIT.ROUTES_SWEPT_MAX - 1)
    if next(routes_of_worker(p, digest, apps > 0 and is_shared == 1, routed)) then has_work = 1 end
  end
  return {'OK', has_work, has_any, is_gathering(p) and 1 or 0, is_shared, unpack(known_digests(p))}
end

-- ---------------------------------------------------------------------------------------------------------
-- What waits

-- Has a chunk that nobody holds wait for a route.
local function hold(p, c, route, wait_ms, now)
  if Chunks.state_for(p, c) ~= 'running' then return Chunks.route(p, c, now, now) end
  local expires = Switches.expiry_of(p, c.app, c.job)
  local due = now + wait_ms + LIMIT.ROUTE_SPARE_MS
  -- By the clock of whoever passed it on it had not expired.
  if expires ~= 0 then due = math.max(now + LIMIT.ROUTE_ALIVE_MS, math.min(due, expires)) end
  local member = Chunk.pack(c)
  redis.call('ZADD', KEY.delayed(p), text(due), member)
  -- From here on nothing is lost, and a wrong type under one of these keys must not undo what was settled.
  local rank = text(RANK[c.priority] + now)
  redis.pcall('ZADD', KEY.route_waiting(p, 'chunks', route), rank, member)
  pcall(function()
    if not is_listed(p, route) then list(p, route, '', wait_ms, now) end
    RouteAlarms.added(p, route, 'chunks', rank, member, wait_ms, now)
  end)
end

-- pass_on_chunk — ARGV: consumer, priority, entry, how long it waits for a worker (ms). A chunk whose app the caller does not
-- have goes to a worker that has it, with its progress; no crash is counted. Reply: OK | STALE
local function pass_on_chunk(keys, args)
  local p, consumer, priority, entry, now = keys[1], args[1], args[2], args[3], now_ms()
  refuse_wrong_type(KEY.delayed(p), 'zset')
  local stream = KEY.chunks(p, priority)
  local deliveries = owned(stream, entry, consumer)
  local items = deliveries and redis.call('XRANGE', stream, entry, entry) or {}
  if #items == 0 then return 'STALE' end
  local c = Chunk.of(priority, fields_of(items[1][2]))
  c.crashes = c.crashes + deliveries - 1
  Fairness.drop_chunk(p, c, entry)
  hold(p, c, c.app, tonumber(args[4]), now)
  return 'OK'
end

-- pass_on_job — ARGV: consumer, priority, entry, app, id, a known app that may have been meant or '', how long it waits for a
-- worker (ms), when it expires (epoch ms) or 0, and the id that its text is to have in a dead letter, if any. A job whose app the
-- caller does not have waits in its stream for a worker that has it; no delivery is counted.
-- Reply: OK | STALE | FULL (nobody has the app, and too many others wait already: refuse it)
local function pass_on_job(keys, args)
  local p, consumer, priority, entry, app, id = keys[1], unpack(args, 1, 5)
  local now, wait_ms = now_ms(), tonumber(args[7])
  local stream = KEY.jobs(p, priority)
  local deliveries = Fairness.owned_job(p, priority, entry, consumer)
  if not deliveries then return 'STALE' end
  local is_new = not is_listed(p, app)
  if is_new and redis.call('ZCARD', KEY.unrouted(p)) >= LIMIT.ROUTES_WAITED_FOR_MAX and not could_send(p, app) then
    return 'FULL'
  end
  -- Redis keeps what a function wrote before it failed: one that is asked again would find the route there, and take it for listed.
  if is_new then refuse_wrong_type(KEY.route_hints(p), 'hash') end
  -- A call that is repeated leaves it where it is. One that was taken back in between waits anew.
  local rank, member = text(RANK[priority] + now), cjson.encode({'job', priority, entry, deliveries, id, args[8], args[9]})
  redis.call('ZADD', KEY.route_waiting(p, 'jobs', app), 'NX', rank, member)
  if is_new then list(p, app, args[6], wait_ms, now) end
  RouteAlarms.added(p, app, 'jobs', rank, member, wait_ms, now)
  redis.call('XACK', stream, GROUP, entry)
  redis.call('HDEL', KEY.scout(p, priority), 'c:' .. entry)
  return 'OK'
end

-- hand_over_job — ARGV: consumer, priority, entry, app, id, how long the record of a cancelled job is kept (s). Ends a job here that was
-- added in the shard where its app lives, or was cancelled before, and its record unless that is another job's. Reply: OK | STALE
local function hand_over_job(keys, args)
  local p, consumer, priority, entry, app, id = keys[1], unpack(args, 1, 5)
  if not Fairness.owned_job(p, priority, entry, consumer) then return 'STALE' end
  local source, key = source_of(priority, entry), KEY.job(p, app, id)
  local record = redis.pcall('HMGET', key, 'source', 'admitted', 'state')
  if record[1] == source and not record[2] then
    if record[3] == 'cancelled' then redis.call('EXPIRE', key, args[6]) else redis.call('DEL', key) end
  end
  drop_uploaded(p, source)
  Fairness.drop_job(p, priority, entry)
  return 'OK'
end

register('publish_routes', publish_routes, {'allow-oom'})
register('announce_routes', announce_routes, {'allow-oom'})
register('pass_on_chunk', pass_on_chunk, {'allow-oom'})
register('pass_on_job', pass_on_job, {'allow-oom'})
register('hand_over_job', hand_over_job, {'allow-oom'})

Routes.of_worker = routes_of_worker
Routes.could_send = could_send
Routes.is_gathering = is_gathering
Routes.hold = hold

end
