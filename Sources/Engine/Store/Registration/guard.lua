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

-- By prefix: for how many calls it is not asked again whether apps live elsewhere, or THERE. Most fleets have one shard: they are
-- asked at one call in many. It goes by calls, for a caller need not have the right to ask for the time.
--
-- The functions are the same for all databases of a server, and cannot ask in which one they are called. So THERE stays: what is not
-- in one database may be in another with the same prefix.
local known, prefixes = {}, 0
local THERE = -1
local CALLS = 64
local PREFIXES_MAX = 1000

local function note(p, left)
  if known[p] == nil then
    if prefixes == PREFIXES_MAX then known, prefixes = {}, 0 end
    prefixes = prefixes + 1
  end
  known[p] = left
end

-- Why a call about an app is refused here, or nil. In a fleet of several shards a HASH, which the workers keep, says which apps live
-- in another one: nobody would send to what is registered of these here. Once anybody has seen the HASH each call looks for it. A
-- caller that may not read it, as with the rights of an older ACL, is let through, and changes nothing for the others. Its rights are
-- asked for first: Redis logs a look that is denied.
function Guard.elsewhere(p, app)
  local left = known[p]
  if left and left > 0 then
    known[p] = left - 1
    return nil
  end
  local key = KEY.elsewhere(p)
  if not redis.acl_check_cmd('HGET', key, app) then return nil end
  local shard = redis.pcall('HGET', key, app)
  if type(shard) == 'string' then
    note(p, THERE)
    return '/app: ' .. app .. ' lives in the shard "' .. Json.printable(shard) ..
      '" of this fleet, and nothing was done here: call the Redis of that shard'
  end
  if left == THERE then return nil end
  local is_there = redis.acl_check_cmd('EXISTS', key) and redis.pcall('EXISTS', key) == 1
  note(p, is_there and THERE or CALLS)
end

end
