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

-- take_routed — ARGV: consumer, digest, max, 1 when the worker has the apps of Redis, too. Leases jobs that wait for a worker of this
-- configuration, as far as their apps have room for chunks. Reply: {{priority, entry, job text, deliveries}…}, without a text what is
-- too large to be read here
local function take_routed(keys, args)
  local p, consumer, max = keys[1], args[1], tonumber(args[3])
  local jobs, bytes = {}, 0
  for _, route in ipairs(routes_for(p, args[2], args[4] == '1')) do
    local key = KEY.route_waiting(p, 'jobs', route)
    for _, member in ipairs(redis.call('ZRANGE', key, 0, max - 1)) do
      local _, priority, entry, deliveries = unpack(cjson.decode(member))
      if #jobs >= max or bytes >= LIMIT.TAKEN_BYTES_MAX or Fairness.room(p, priority, route) <= 0 then break end
      redis.call('ZREM', key, member)
      local mean = large_mean(KEY.jobs(p, priority))
      local item = Fairness.claim_out_of_turn(p, priority, entry, consumer, deliveries, mean)
      local job = item and item[2] and fields_of(item[2]).job
      if job or item and not item[2] then
        jobs[#jobs + 1] = {priority, entry, job or false, deliveries}
        bytes = bytes + (job and #job or mean)
      end
    end
    if #jobs >= max then break end
  end
  return jobs
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
register('claim_routed', claim_routed, {'allow-oom'})

end
