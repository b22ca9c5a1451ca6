-- The values that producers fill in for their users: a HASH of theirs, user → JSON object.

local Variables = {}  -- what later files use of it

do

-- Why a job's key of values cannot be read; nil when it can.
local function unusable(key)
  local size = redis.pcall('HLEN', key)
  if type(size) == 'table' then
    return string.find(size.err, 'WRONGTYPE', 1, true) and 'VARIABLES_TYPE' or 'VARIABLES_UNREADABLE'
  end
  if size == 0 then return 'VARIABLES_MISSING' end
  return redis.pcall('HMGET', key, '').err and 'VARIABLES_UNREADABLE' or nil
end

-- variables — ARGV: key, max bytes, users… What the key holds of each, as far as it is not longer: a lane that cannot read one
-- user's values must not keep them from the others.
-- Reply: {JSON | nil | 0 (too long)…}, or why the key cannot be read, as an error
local function variables(keys, args)
  local max, found = tonumber(args[2]), redis.pcall('HMGET', args[1], unpack(args, 3))
  if found.err then return redis.error_reply(found.err) end
  for i, json in ipairs(found) do
    if json and #json > max then found[i] = 0 end
  end
  return found
end

register('variables', variables, {'no-writes'})

Variables.unusable = unusable

end
