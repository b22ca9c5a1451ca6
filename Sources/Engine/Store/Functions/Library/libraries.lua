-- Libraries of other versions, and what a test asks this one.

do

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

register('unused_libraries', unused_libraries, {'allow-oom'})
register('keys', key_table, {'no-writes'})

end
