-- Ready chunks. A delayed chunk whose time has come and that has no room in its stream yet waits in line with those of its
-- app, so that no app's backlog hides another's: ZSET P:ready:<priority>:<app>, chunk → when it fell due, and ZSET
-- P:ready:<priority>, app → when it last had its turn.
--
-- Both only order. The chunk itself stays in the delayed set, to be looked at again later, and whoever removes it there has
-- it. So nothing is lost with them, an entry that is out of date does no harm, and workers of a version that knows only
-- the delayed set find everything in it.

local Ready = {}  -- what later files use of it

do

-- When the delayed set is to be looked through again for a chunk that was put in line now.
local function look_again_at(p, now)
  return now + LIMIT.READY_MS + math.floor(redis.call('ZCARD', KEY.delayed(p)) / LIMIT.DELAYED_PER_MS)
end

-- Puts a chunk of the delayed set in line that fell due at `due`.
local function add(p, priority, app, member, due, again, now)
  redis.call('ZADD', KEY.delayed(p), 'XX', again, member)
  redis.call('ZADD', KEY.ready(p, priority, app), 'LT', due, member)
  redis.call('ZADD', KEY.ready_apps(p, priority), 'NX', now, app)
end

-- What nobody takes any more is put in line anew, or was never more than an order.
local function keep(p, priority, app)
  redis.call('EXPIRE', KEY.ready(p, priority, app), LIMIT.READY_S)
  redis.call('EXPIRE', KEY.ready_apps(p, priority), LIMIT.READY_S)
end

-- Takes a chunk out of the line whose time is another now.
local function leave(p, priority, app, member) redis.call('ZREM', KEY.ready(p, priority, app), member) end

-- How many chunks are in line, counted up to max.
local function count(p, priority, max)
  local key = KEY.ready_apps(p, priority)
  local n = redis.call('ZCARD', key)
  if n == 0 or n >= max then return n end
  n = 0
  for _, app in ipairs(redis.call('ZRANGE', key, 0, LIMIT.TURNS_MAX - 1)) do
    n = n + redis.call('ZCARD', KEY.ready(p, priority, app))
    if n >= max then break end
  end
  return n
end

-- The next chunk of an app, taken out of the delayed set; false when that one is gone, nil when there is none.
local function take(p, priority, app)
  local member = redis.call('ZPOPMIN', KEY.ready(p, priority, app))[1]
  if not member then
    redis.call('ZREM', KEY.ready_apps(p, priority), app)
    return nil
  end
  if redis.call('ZREM', KEY.delayed(p), member) == 1 then return member end
  return false
end

-- Lets the apps have their turns, those first that waited longest: calls start(member) for a chunk of each whose
-- has_room(app) holds, again and again, for at most max of them. Returns how many.
local function take_turns(p, priority, max, now, has_room, start)
  local key = KEY.ready_apps(p, priority)
  local apps, taken, looks = redis.call('ZRANGE', key, 0, LIMIT.TURNS_MAX - 1), 0, max + LIMIT.READY_GONE_MAX
  local turns = {}
  for _, app in ipairs(apps) do
    turns[#turns + 1] = now
    turns[#turns + 1] = app
  end
  while #apps > 0 do
    local going = {}
    for _, app in ipairs(apps) do
      if taken < max and looks > 0 and has_room(app) then
        looks = looks - 1
        local member = take(p, priority, app)
        if member then
          start(member)
          taken = taken + 1
        end
        if member ~= nil then going[#going + 1] = app end
      end
    end
    apps = going
  end
  if #turns > 2 then redis.call('ZADD', key, 'XX', unpack(turns)) end
  return taken
end

Ready.look_again_at = look_again_at
Ready.add = add
Ready.keep = keep
Ready.leave = leave
Ready.count = count
Ready.take_turns = take_turns

end
