-- What operators hold back
--
-- HASH P:switches: what is switched off, a field each: app|<app>, network|<app>|<network>, user|<app>|<user>,
-- bucket|<app>|<bucket>, topic|<app>|<topic>. It is public, so any client may write it: only that a field is there counts, and
-- its value is a remark for people. Lanes read it twice a second and stop what they have in hand; chunks that nobody has are held here,
-- in the delayed set.

local Switches = {}  -- what later files use of it

do

-- When a delayed chunk is to be looked at again that is due later than it need be.
local function unhurried(p, due) return due + math.floor(redis.call('ZCARD', KEY.delayed(p)) / LIMIT.DELAYED_PER_MS) end

-- When the work of a job expires, 0 for never. Its content says so; the record remembers, for the chunks to come. Where that counts
-- from its start, the start that the record has decides, whatever an older version remembers.
local function expiry_of(p, app, job)
  local key = KEY.job(p, app, job)
  local r = redis.call('HMGET', key, 'expires_at', 'created_at', 'lives', 'start_at')
  if r[3] and r[4] and r[4] ~= '0' then return tonumber(r[4]) + tonumber(r[3]) * 1000 end
  if r[1] then return tonumber(r[1]) end
  -- Whoever asks may have counted already: what cannot be read must not stop it.
  local found = redis.pcall('GET', KEY.content(p, app, job))
  local ok, content = pcall(cjson.decode, type(found) == 'string' and found or '')
  local expires = 0
  if ok and type(content) == 'table' then
    local ttl = tonumber(content.ttl_seconds) or 0
    -- "Now or never" (0) is for the network: the first attempt is made, however late.
    if ttl > 0 then expires = tonumber(r[2] or '0') + ttl * 1000 end
    expires = tonumber(content.expires_at) or expires
  end
  redis.call('HSET', key, 'expires_at', text(expires))
  return expires
end

-- Whether every line of an `installations` segment is for a network that is off; off: network → value or false.
local function is_all_off(segment, off)
  local from_start = '\n' .. segment
  for network, is_off in pairs(off) do
    if not is_off and string.find(from_start, '\n' .. network .. '\t', 1, true) then return false end
  end
  return true
end

-- Until when a chunk that could start now is held because its app is off, the bucket that its job tells of or the topic that it
-- goes to (false for none), or every network that it is for; nil when it is not held. Work that has expired is not held, so that
-- a lane counts it.
local function held_until(p, c, bucket, topic, now)
  local fields = {'app|' .. c.app}
  for i, network in ipairs(NETWORKS) do fields[i + 1] = 'network|' .. c.app .. '|' .. network end
  if bucket then fields[#fields + 1] = 'bucket|' .. c.app .. '|' .. bucket end
  if topic then fields[#fields + 1] = 'topic|' .. c.app .. '|' .. topic end
  local r = redis.pcall('HMGET', KEY.switches(p), unpack(fields))
  -- A wrong type under the key switches nothing off; the lanes complain of it.
  if r.err then return nil end
  local is_whole_off = r[1] or r[#NETWORKS + 2] or r[#NETWORKS + 3]
  local off, is_any_off = {}, is_whole_off
  for i, network in ipairs(NETWORKS) do
    off[network] = r[i + 1]
    is_any_off = is_any_off or r[i + 1]
  end
  if not is_any_off then return nil end
  if not is_whole_off then
    if c.lines ~= 'installations' then return nil end
    local segment = redis.call('GET', KEY.segment(p, c.segment, c.source))
    if not segment or not is_all_off(segment, off) then return nil end
  end
  local expires = expiry_of(p, c.app, c.job)
  if expires ~= 0 and expires <= now then return nil end
  local due = unhurried(p, now + LIMIT.SWITCHED_OFF_MS)
  return expires ~= 0 and math.min(due, expires) or due
end

-- switches — ARGV: max. What is switched off; of more than max so many, and those of users last.
-- Reply: {how many there are, field, value…}
local function read_switches(keys, args)
  local key, max = KEY.switches(keys[1]), tonumber(args[1])
  local count = redis.call('HLEN', key)
  local reply, users = {count}, {}
  local cursor, looked = '0', 0
  repeat
    local part = redis.call('HSCAN', key, cursor, 'COUNT', max)
    cursor = part[1]
    for i = 1, #part[2], 2 do
      looked = looked + 1
      local list = string.find(part[2][i], 'user|', 1, true) == 1 and users or reply
      if #list <= 2 * max then
        list[#list + 1] = part[2][i]
        list[#list + 1] = part[2][i + 1]
      end
    end
  until cursor == '0' or looked >= LIMIT.SWITCHES_LOOKED_MAX
  for i = 1, math.min(#users, 2 * max + 1 - #reply) do reply[#reply + 1] = users[i] end
  return reply
end

-- switch_off — ARGV: field, reason, max. What is off already stays as it is.
-- Reply: {OFF | ALREADY | FULL (there are max already), its value}
local function switch_off(keys, args)
  local key, field = KEY.switches(keys[1]), args[1]
  local value = redis.call('HGET', key, field)
  if value then return {'ALREADY', value} end
  if redis.call('HLEN', key) >= tonumber(args[3]) then return {'FULL', ''} end
  value = cjson.encode({since = now_ms(), reason = args[2]})
  redis.call('HSET', key, field, value)
  return {'OFF', value}
end

register('switches', read_switches, {'no-writes'})
register('switch_off', switch_off, {'allow-oom'})

Switches.unhurried = unhurried
Switches.held_until = held_until
Switches.expiry_of = expiry_of

end
