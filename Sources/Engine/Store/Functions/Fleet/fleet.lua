-- Workers

do

-- beat — ARGV: worker, (field, value)… Reply: server time in ms
local function beat(keys, args)
  local p, now = keys[1], now_ms()
  local key = KEY.worker(p, args[1])
  local last = tonumber(redis.call('ZREVRANGE', KEY.workers(p), 0, 0, 'WITHSCORES')[2] or '0')
  if now - last > LIMIT.ALIVE_MS or last > now then redis.call('SET', KEY.workers_since(p), text(now)) end
  redis.call('ZADD', KEY.workers(p), text(now), args[1])
  if #args > 1 then redis.call('HSET', key, unpack(args, 2)) end
  redis.call('EXPIRE', key, LIMIT.WORKER_S)
  redis.call('ZREMRANGEBYSCORE', KEY.workers(p), '-inf', text(now - DAY_S * 1000))
  return now
end

-- agree — ARGV: name, proposal, refused credential or '', life ms. What the fleet uses: what it has, unless that is
-- the refused one; else the proposal from now on. Reply: the credential
local function agree(keys, args)
  local key = KEY.credential(keys[1], args[1])
  local current = redis.call('GET', key)
  if current and current ~= args[3] then return current end
  redis.call('SET', key, args[2], 'PX', args[4])
  return args[2]
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

-- unused_libraries — ARGV: the library in use, the others that Redis has… Reply: those that no worker of this prefix has
-- used for LIBRARY_S, each of them once
local function unused_libraries(keys, args)
  local key, now = KEY.libraries(keys[1]), now_ms()
  local unused = {}
  redis.call('ZADD', key, text(now), args[1])
  for i = 2, #args do
    -- One that is seen for the first time may have been loaded just now.
    redis.call('ZADD', key, 'NX', text(now), args[i])
    if tonumber(redis.call('ZSCORE', key, args[i])) < now - LIMIT.LIBRARY_S * 1000 then
      unused[#unused + 1] = args[i]
      redis.call('ZREM', key, args[i])
    end
  end
  return unused
end

-- The id of the first entry of a stream behind another, or nil. To learn it Redis copies the entry whole.
local function first_behind(stream, given)
  local items = redis.pcall('XRANGE', stream, '(' .. given, '+', 'COUNT', 1)
  return not items.err and items[1] and items[1][1] or nil
end

-- The id of the first job of a priority that nobody has taken, or nil. A job may have megabytes, which take milliseconds to
-- copy. So the fleet remembers it as long as it is the first, and one that may be so large is looked for by the caller: then
-- behind which entry is the second that is returned.
local function first_waiting_job(p, priority)
  local key, stream = KEY.oldest(p), KEY.jobs(p, priority)
  local given = last_given(stream) or '0-0'
  local known = redis.call('HGET', key, priority)
  if known and is_behind(known, given) and has_entry(stream, known) then return known end
  if large_mean(stream) then return nil, given end
  local entry = first_behind(stream, given)
  if entry then redis.call('HSET', key, priority, entry) elseif known then redis.call('HDEL', key, priority) end
  return entry
end

-- As above, of the chunks: their entries are small.
local function first_waiting_chunk(p, priority)
  local stream = KEY.chunks(p, priority)
  return first_behind(stream, last_given(stream) or '0-0')
end

-- oldest — ARGV: (priority, entry)… of first jobs that the caller has looked for.
-- Reply: {for how many ms the oldest job or chunk that nobody has taken has been waiting; 0 without any, (priority, behind which
-- entry the caller is to look for its first job)…}
local function oldest(keys, args)
  local p, now = keys[1], now_ms()
  if #args > 0 then redis.call('HSET', KEY.oldest(p), unpack(args)) end
  local since, unknown = now, {}
  for _, priority in ipairs(PRIORITIES) do
    for _, first in ipairs({first_waiting_job, first_waiting_chunk}) do
      local entry, behind = first(p, priority)
      if entry then since = math.min(since, tonumber(string.match(entry, '^%d+'))) end
      if behind then unknown[#unknown + 1], unknown[#unknown + 2] = priority, behind end
    end
  end
  redis.call('EXPIRE', KEY.oldest(p), LIMIT.WORKER_S)
  return {now - since, unpack(unknown)}
end

-- watch — ARGV: (kind, priority, entry)… of which the caller was told and which its lanes have no room for. Moves the watchers'
-- place in each stream on to the last entry that was given to a worker. Where an entry is given back that nobody has yet, the
-- place goes back as far, so that other watchers are told of all that waits.
local function watch(keys, args)
  local p, back = keys[1], {}
  for i = 1, #args, 3 do back[KEY[args[i]](p, args[i + 1])] = args[i + 2] end
  for _, kind in ipairs({'jobs', 'chunks'}) do
    for _, priority in ipairs(PRIORITIES) do
      local stream = KEY[kind](p, priority)
      local at, entry = places(stream), back[stream]
      local place, given = at[WATCHERS], at[GROUP] or '0-0'
      if not place then
        redis.call('XGROUP', 'CREATE', stream, WATCHERS, given, 'MKSTREAM')
      elseif is_behind(given, place) or entry and is_behind(entry, given) then
        redis.call('XGROUP', 'SETID', stream, WATCHERS, given)
      end
    end
  end
end

-- keys — no ARGV. Reply: (name, key)… with every argument spelt <1>, <2>…; for the test beside Keys.swift
local function key_table(keys)
  local names, reply = {}, {}
  for name in pairs(KEY) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local ok, key
    -- As many arguments as the key takes: with fewer the concatenation fails.
    for n = 0, 3 do
      ok, key = pcall(KEY[name], keys[1], unpack({'<1>', '<2>', '<3>'}, 1, n))
      if ok then break end
    end
    reply[#reply + 1] = name
    reply[#reply + 1] = key
  end
  return reply
end

register('agree', agree, {'allow-oom'})
register('beat', beat, {'allow-oom'})
register('forget', forget, {'allow-oom'})
register('unused_libraries', unused_libraries, {'allow-oom'})
register('sweep_consumers', sweep_consumers, {'allow-oom'})
register('oldest', oldest, {'allow-oom'})
register('watch', watch, {'allow-oom'})
register('keys', key_table, {'no-writes'})

end
