-- An installation that is changed in part. Whoever asks for it has read the record and says which one that was, so that nothing
-- is lost of what somebody else has changed meanwhile.

do

-- amend — ARGV: sections, of these columns.
--   installations, one row, and fields: as of install (installations.lua), with all that the installation is to have afterwards;
--     channels among the fields, '' for none. Its object id and created_at stay as they are in the record.
--   read, one row: the record as the caller has read it
--     generation
--     badge, or '': jobs raise it without a new generation
--   removed: fields of the record that it is not to have any more
--     name
-- Reply: {amended, generation, object id, created_at, updated_at} | {absent} | {changed}: of another user by now, or no longer
-- the one that was read
local AMEND = Sections.layout('amend', {installations = Bindings.COLUMNS, fields = 2, read = 2, removed = 1},
  {'installations', 'read'})

local function amend(keys, args)
  local p = keys[1]
  local first, last = Sections.read(args, AMEND)
  local refused = Installations.refusal(args, first, last)
  if refused then return refused end
  local at = first.installations
  local app, network, token, user = unpack(args, at, at + 3)
  local key = KEY.token(p, network, app, token)
  local r = redis.call('HMGET', key, 'user', 'generation', 'badge')
  if not r[1] then return {'absent'} end
  if r[1] ~= user or r[2] ~= args[first.read] or (r[3] or '') ~= args[last.read] then return {'changed'} end
  Bindings.bind(p, args, at, first.fields, now_ms(), false)
  if last.removed >= first.removed then redis.call('HDEL', key, unpack(args, first.removed, last.removed)) end
  return {'amended', unpack(redis.call('HMGET', key, 'generation', 'object_id', 'created_at', 'updated_at'))}
end

register('amend', amend)

end
