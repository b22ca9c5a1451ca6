-- Workers: their beats, and the names under which they lease.

do

-- beat — ARGV: worker, (field, value)… Looks after the types of our keys as well. Reply: server time in ms
local function beat(keys, args)
  local p, now = keys[1], now_ms()
  Types.check(p, now)
  local key = KEY.worker(p, args[1])
  local last = tonumber(redis.call('ZREVRANGE', KEY.workers(p), 0, 0, 'WITHSCORES')[2] or '0')
  if last > now + LIMIT.STEPPED_MS then Stepping.go_back(p, last - now, now) end
  if now - last > LIMIT.ALIVE_MS or last > now then redis.call('SET', KEY.workers_since(p), text(now)) end
  redis.call('ZADD', KEY.workers(p), text(now), args[1])
  if #args > 1 then redis.call('HSET', key, unpack(args, 2)) end
  redis.call('EXPIRE', key, LIMIT.WORKER_S)
  redis.call('ZREMRANGEBYSCORE', KEY.workers(p), '-inf', text(now - DAY_S * 1000))
  return now
end

-- forget — ARGV: worker. Reply: 1, or 0 when it was not there
local function forget(keys, args)
  local p = keys[1]
  redis.call('DEL', KEY.worker(p, args[1]))
  local removed = redis.call('ZREM', KEY.workers(p), args[1])
  if redis.call('EXISTS', KEY.workers(p)) == 0 then redis.call('DEL', KEY.workers_since(p)) end
  return removed
end

-- sweep_consumers — ARGV: consumer or '', idle ms. Deletes that consumer, or without a name every consumer idle
-- for so long; never one that has entries pending (deleting it would lose them). Reply: how many
local function sweep_consumers(keys, args)
  local p, name, idle_ms = keys[1], args[1], tonumber(args[2])
  local deleted = 0
  for _, kind in ipairs({'jobs', 'chunks'}) do
    for _, priority in ipairs(PRIORITIES) do
      local stream = KEY[kind](p, priority)
      local consumers = redis.pcall('XINFO', 'CONSUMERS', stream, GROUP)
      for _, flat in ipairs(consumers.err and {} or consumers) do
        local c = fields_of(flat)
        local wanted = (name ~= '' and c.name == name) or (name == '' and c.idle >= idle_ms)
        if wanted and c.pending == 0 then
          redis.call('XGROUP', 'DELCONSUMER', stream, GROUP, c.name)
          deleted = deleted + 1
        end
      end
    end
  end
  return deleted
end

register('beat', beat, {'allow-oom'})
register('forget', forget, {'allow-oom'})
register('sweep_consumers', sweep_consumers, {'allow-oom'})

end
