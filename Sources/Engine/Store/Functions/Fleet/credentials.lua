-- Credentials that the fleet shares.

do

-- agree — ARGV: name, proposal, refused credential or '', life ms. What the fleet uses: what it has, unless that is
-- the refused one; else the proposal from now on. Reply: the credential
local function agree(keys, args)
  local key = KEY.credential(keys[1], args[1])
  local current = redis.call('GET', key)
  if current and current ~= args[3] then return current end
  redis.call('SET', key, args[2], 'PX', args[4])
  return args[2]
end

register('agree', agree, {'allow-oom'})

end
