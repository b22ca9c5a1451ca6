-- Puts users into the indexes of all and of channels whose bindings were made by a version without indexes: by a walk over the
-- keys of the whole database, a page a call. May be repeated: who is in an index stays there.

do

-- A text as a pattern of Redis that matches nothing else.
local function escaped(pattern) return (string.gsub(pattern, '[%*%?%[%]\\]', '\\%0')) end

-- Adds the owner of a token to the channels that its record names.
local function add_channels(p, app, key)
  local user, channels = unpack(redis.call('HMGET', key, 'user', 'channels'))
  if not user then return end
  for name in string.gmatch(channels or '', '[^\n]+') do Index.add(p, app, Index.of_channel(name), user) end
end

-- index_users — ARGV: app, cursor and server of the last reply; both '' to begin. A cursor means nothing in another server
-- process: then the walk begins again.
-- Reply: {cursor, '' when all have been found; server; users found; how many of them were not in the index of all; keys in the
-- database; 1 when the walk begins again}
local function index_users(keys, args)
  local p, app, cursor, server = keys[1], args[1], args[2], run_id()
  local begins_again = cursor ~= '' and server ~= args[3]
  if cursor == '' or begins_again then cursor = '0' end
  local reply = redis.call('SCAN', cursor, 'MATCH', escaped(p) .. ':*', 'COUNT', LIMIT.INDEXED_AT_ONCE)
  local start, tokens, found, added = KEY.user(p, app, ''), {}, 0, 0
  for _, network in ipairs(NETWORKS) do tokens[#tokens + 1] = KEY.token(p, network, app, '') end
  for _, key in ipairs(reply[2]) do
    if string.sub(key, 1, #start) == start then
      found = found + 1
      if Index.add(p, app, Index.ALL, string.sub(key, #start + 1)) then added = added + 1 end
    end
    for _, token in ipairs(tokens) do
      if string.sub(key, 1, #token) == token then add_channels(p, app, key) end
    end
  end
  local is_over = reply[1] == '0'
  if is_over then Index.make_whole(p, app) end
  return {is_over and '' or reply[1], server, found, added, redis.call('DBSIZE'), begins_again and 1 or 0}
end

register('index_users', index_users)

end
