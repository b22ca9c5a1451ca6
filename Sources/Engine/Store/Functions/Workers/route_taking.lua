-- Work that waited for a route, taken by a worker that has it; see routes.lua.

do

-- The routes that something waits for and that a worker has.
local function routes_for(p, digest, is_sharing)
  local routed = redis.call('ZRANGE', KEY.routed(p), 0, LIMIT.ROUTES_SWEPT_MAX - 1)
  local found, routes = Routes.of_worker(p, digest, is_sharing, routed), {}
  for _, route in ipairs(routed) do
    if found[route] then routes[#routes + 1] = route end
  end
  return routes
end

-- Whether a job that waits is paused.
local function is_paused(p, app, priority, entry, id)
  local record = redis.pcall('HMGET', KEY.job(p, app, id), 'source', 'admitted', 'state')
  return record[1] == source_of(priority, entry) and not record[2] and record[3] == 'paused'
end

-- Leases jobs that wait for these routes, as far as their apps have room for chunks. pass: nil to take paused ones, too; else these
-- stay, and it says how many calls before found nothing but such: each looks at the next ones, so none is hidden behind them.
-- Returns {{priority, entry, job text, deliveries}…}, without a text what is too large to be read here.
local function take(p, routes, consumer, max, pass)
  local jobs, bytes = {}, 0
  for _, route in ipairs(routes) do
    local key = KEY.route_waiting(p, 'jobs', route)
    local looked, first = LIMIT.ROUTE_PAUSED_LOOKED_MAX, 0
    if pass then first = pass * looked % math.max(redis.call('ZCARD', key), 1) end
    for _, member in ipairs(redis.call('ZRANGE', key, text(first), text(first + max - 1 + (pass and looked or 0)))) do
      local _, priority, entry, deliveries, id = unpack(cjson.decode(member))
      if #jobs >= max or bytes >= LIMIT.TAKEN_BYTES_MAX or Fairness.room(p, priority, route) <= 0 then break end
      if not pass or not is_paused(p, route, priority, entry, id) then
        redis.call('ZREM', key, member)
        local mean = large_mean(KEY.jobs(p, priority))
        local item = Fairness.claim_out_of_turn(p, priority, entry, consumer, deliveries, mean)
        local job = item and item[2] and fields_of(item[2]).job
        if job or item and not item[2] then
          jobs[#jobs + 1] = {priority, entry, job or false, deliveries}
          bytes = bytes + (job and #job or mean)
        end
      end
    end
    if #jobs >= max then break end
  end
  return jobs
end

-- take_routed — ARGV: consumer, digest, max, 1 when the worker has the apps of Redis, too. Leases jobs that wait for a worker of this
-- configuration. Reply: see take
local function take_routed(keys, args)
  return take(keys[1], routes_for(keys[1], args[2], args[4] == '1'), args[1], tonumber(args[3]))
end

-- take_waiting — ARGV: consumer, max, how many calls before found none, app… Leases jobs of these apps that wait for a worker with
-- them, but for those that are paused: the caller passes them on to the shard in which the apps live. Reply: see take
local function take_waiting(keys, args)
  return take(keys[1], {unpack(args, 4)}, args[1], tonumber(args[2]), tonumber(args[3]))
end

-- Gives a chunk that nobody holds to a consumer, out of its turn.
local function claim_for(p, c, consumer, now, claims)
  local stream = KEY.chunks(p, c.priority)
  local entry = Chunks.add(p, c, consumer)
  local items = in_group(stream, 'XCLAIM', stream, GROUP, consumer, 0, entry, 'FORCE', 'RETRYCOUNT', 1)
  for _, item in ipairs(items) do Leases.claim_entry(p, c.priority, stream, item, 1, now, claims) end
end

-- claim_routed — ARGV: consumer, digest, max, 1 when the worker has the apps of Redis, too. Leases chunks that wait for a worker of
-- this configuration; reply as claim.
-- Each stands in its stream then, with the name of the consumer that has it: who comes upon it there leaves it alone.
local function claim_routed(keys, args)
  local p, consumer, max, now = keys[1], args[1], tonumber(args[3]), now_ms()
  local claims, looked = {}, 0
  for _, route in ipairs(routes_for(p, args[2], args[4] == '1')) do
    local key = KEY.route_waiting(p, 'chunks', route)
    while #claims < max and looked < LIMIT.PASSED_OVER_MAX do
      local members = redis.call('ZRANGE', key, 0, max - #claims - 1)
      for _, member in ipairs(members) do
        redis.call('ZREM', key, member)
        if redis.call('ZREM', KEY.delayed(p), member) == 1 then
          claim_for(p, Chunk.unpack(member), consumer, now, claims)
        end
      end
      looked = looked + #members
      if #members == 0 then break end
    end
  end
  return claims
end

register('take_routed', take_routed)
register('take_waiting', take_waiting)
register('claim_routed', claim_routed, {'allow-oom'})

end
