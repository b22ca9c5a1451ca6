-- Topics, as the command line subscribes users to them; any client does with pushpool_subscribe (Registration).

do

-- subscribe — ARGV: (app, topic, user)…. Reply: {how many were subscribed, how many had been before}
local function subscribe(keys, args)
  local subscribed = 0
  for i = 1, #args, 3 do
    if Index.add(keys[1], args[i], Index.of_topic(args[i + 1]), args[i + 2]) then subscribed = subscribed + 1 end
  end
  return {subscribed, #args / 3 - subscribed}
end

-- unsubscribe — ARGV: as subscribe. Reply: {how many were subscribed, how many had not been}
local function unsubscribe(keys, args)
  local removed = 0
  for i = 1, #args, 3 do
    if Index.remove(keys[1], args[i], Index.of_topic(args[i + 1]), args[i + 2]) then removed = removed + 1 end
  end
  return {removed, #args / 3 - removed}
end

register('subscribe', subscribe)
register('unsubscribe', unsubscribe, {'allow-oom'})

end
