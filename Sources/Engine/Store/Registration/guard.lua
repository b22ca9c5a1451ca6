-- The keys of a call: the prefix, and in a cluster the guard.
--
-- While a cluster moves a slot, its source sends whoever asks for a key that is not there to the target (ASK), and a client follows.
-- The prefix is no key that exists. So a call with the prefix alone is carried out at the target, where nothing of ours is yet: it
-- answers `created`, and what it has written keeps the cluster from moving the key of that name. Of a call with several keys that
-- are not there the target says TRYAGAIN, and carries out nothing. So calls declare a second key, which never exists either.

local Guard = {}  -- what later files use of it

do

local is_node  -- of a cluster; nil until somebody has called with one key, and then the same for as long as the server runs

-- Whether the server is a node of a cluster. Callers may not ask INFO or CLUSTER INFO, but they all may SELECT: to a number that no
-- database has, which changes nothing. A server whose cluster has several databases tells by its slots, where that may be asked.
local function ask_whether_node()
  local answer = redis.pcall('SELECT', '-1')
  if type(answer) == 'table' and answer.err and string.find(answer.err, 'cluster mode', 1, true) then return true end
  return type(redis.pcall('CLUSTER', 'KEYSLOT', 'x')) == 'number'
end

-- Why a call of a function with these keys is refused, or nil. takes: what it takes beside keys.
function Guard.refusal(name, keys, takes)
  local p = keys[1]
  if #keys == 2 and keys[2] == KEY.guard(p) then return nil end
  local wanted = name .. ' takes two keys, the prefix and ' .. (p and KEY.guard(p) or 'PREFIX:guard')
  if #keys ~= 1 then return wanted .. ', and ' .. takes end
  -- Without a hash tag our keys would be in many slots, and no node serves such a call.
  if not string.find(p, '{', 1, true) then return nil end
  if is_node == nil then is_node = ask_whether_node() end
  if not is_node then return nil end
  return wanted .. ', in a Redis Cluster: with one key a call may go to a node that does not have the data yet'
end

-- The prefix of the last call in whose shard no app was known to live elsewhere, and when that was. Most fleets have one shard: they
-- are asked once in a second.
local alone, alone_ms
local ALONE_MS = 1000

-- Why a call about an app is refused here, or nil. In a fleet of several shards a HASH, which the workers keep, says which apps live
-- in another one: nobody would send to what is registered of these here. A caller that may not read it, as with the rights of an
-- older ACL, is let through.
function Guard.elsewhere(p, app, now)
  if p == alone and now >= alone_ms and now < alone_ms + ALONE_MS then return nil end
  local key = KEY.elsewhere(p)
  local shard = redis.pcall('HGET', key, app)
  if type(shard) == 'string' then
    return '/app: ' .. app .. ' lives in the shard "' .. Json.printable(shard) ..
      '" of this fleet, and nothing was done here: call the Redis of that shard'
  end
  if shard or redis.pcall('EXISTS', key) == 0 then alone, alone_ms = p, now end
end

end
