-- Installations and subscriptions as they are moved to another Redis.

do

-- export_installations — ARGV: app, or '' for every app; cursor and server of the last reply (Walk.page).
-- Reply: {cursor; server; keys in the database; 1 when the walk begins again; apps to whose indexes somebody belongs; then of
-- each installation network, app, token, and its record as HGETALL has it}. A token that moves to another user keeps its key,
-- so it comes up as well, with one of the two.
local function export_installations(keys, args)
  local p, wanted = keys[1], args[1]
  local found, reply = Walk.page(p .. ':', args[2], args[3])
  local sizes, apps = KEY.audiences(p, ''), {}
  reply[5] = apps
  for _, key in ipairs(found) do
    if string.sub(key, 1, #sizes) == sizes then
      local app = string.sub(key, #sizes + 1)
      if wanted == '' or app == wanted then apps[#apps + 1] = app end
    end
    for _, network in ipairs(NETWORKS) do
      local start = KEY.tokens(p, network)
      if string.sub(key, 1, #start) == start then
        local app, token = string.match(key, '^([^:]*):(.+)$', #start + 1)
        if app and (wanted == '' or app == wanted) then
          local record = redis.pcall('HGETALL', key)
          if not record.err then
            reply[#reply + 1] = {network, app, token, record}
          end
        end
      end
    end
  end
  return reply
end

-- export_subscribers — ARGV: app, topic, the place of the last reply or ''.
-- Reply: {place, 1 at the end, users…}. Who subscribes throughout comes up once.
local function export_subscribers(keys, args)
  local users, place, is_over = Index.page(keys[1], args[1], Index.of_topic(args[2]), args[3])
  return {place, is_over and 1 or 0, unpack(users)}
end

register('export_installations', export_installations, {'no-writes'})
register('export_subscribers', export_subscribers, {'no-writes'})

end
