-- Puts users into the index of all whose bindings were made by a version without indexes: by a walk over the keys of the whole
-- database, a page a call. May be repeated: who is in the index stays there.

do

-- A text as a pattern of Redis that matches nothing else.
local function escaped(pattern) return (string.gsub(pattern, '[%*%?%[%]\\]', '\\%0')) end

-- index_users — ARGV: app, cursor and server of the last reply; both '' to begin. A cursor means nothing in another server
-- process: then the walk begins again.
-- Reply: {cursor, '' when all have been found; server; users found; how many of them were not in the index; keys in the database;
-- 1 when the walk begins again}
local function index_users(keys, args)
  local p, app, cursor, server = keys[1], args[1], args[2], run_id()
  local begins_again = cursor ~= '' and server ~= args[3]
  if cursor == '' or begins_again then cursor = '0' end
  local start = KEY.user(p, app, '')
  local reply = redis.call('SCAN', cursor, 'MATCH', escaped(start) .. '*', 'COUNT', LIMIT.INDEXED_AT_ONCE, 'TYPE', 'string')
  local added = 0
  for _, key in ipairs(reply[2]) do
    if Index.add(p, app, Index.ALL, string.sub(key, #start + 1)) then added = added + 1 end
  end
  local is_over = reply[1] == '0'
  if is_over then Index.make_whole(p, app) end
  return {is_over and '' or reply[1], server, #reply[2], added, redis.call('DBSIZE'), begins_again and 1 or 0}
end

register('index_users', index_users)

end
