-- Puts users into the indexes of all and of channels whose bindings were made by a version without indexes: by a walk over the
-- keys of the whole database, a page a call. May be repeated: who is in an index stays there.

do

-- Adds the owner of a token to the channels that its record names.
local function add_channels(p, app, key)
  local user, channels = unpack(redis.call('HMGET', key, 'user', 'channels'))
  if not user then return end
  for name in string.gmatch(channels or '', '[^\n]+') do Index.add(p, app, Index.of_channel(name), user) end
end

-- index_users — ARGV: app, cursor and server of the last reply (Walk.page).
-- Reply: {cursor; server; keys in the database; 1 when the walk begins again; users found; how many of them were not in the
-- index of all}
local function index_users(keys, args)
  local p, app = keys[1], args[1]
  local found_keys, place = Walk.page(p .. ':', args[2], args[3])
  local start, tokens, found, added = KEY.user(p, app, ''), {}, 0, 0
  for _, network in ipairs(NETWORKS) do tokens[#tokens + 1] = KEY.token(p, network, app, '') end
  for _, key in ipairs(found_keys) do
    if string.sub(key, 1, #start) == start then
      found = found + 1
      if Index.add(p, app, Index.ALL, string.sub(key, #start + 1)) then added = added + 1 end
    end
    for _, token in ipairs(tokens) do
      if string.sub(key, 1, #token) == token then add_channels(p, app, key) end
    end
  end
  if place[1] == '' then Index.make_whole(p, app) end
  place[5], place[6] = found, added
  return place
end

register('index_users', index_users)

end
