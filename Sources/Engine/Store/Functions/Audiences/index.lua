-- Indexes: the users of an app that belong to an audience, in the byte order of their ids. The index `all` holds the users that
-- have a binding, `topic:news` those that subscribe to news, `channel:giants` those that have an installation in that channel.
--
-- Users stand in blocks: ZSETs whose scores are all 0. Redis keeps a ZSET of up to 128 short members as one string, so a member
-- costs some 4 bytes beside its name. P:block:<app>:<index>:<bound> is the block of the users from a bound on, up to the next
-- one. P:index:<app>:<index>, a ZSET again, holds the bounds; the first one is '', and only that one's block may be empty.
-- P:audiences:<app> is a HASH index → users.
--
-- A change finds its block by the bounds, and is four commands; one in some sixty additions splits a block. Who reads an index goes
-- on behind the user that was read last. That place means the same in another process, and whatever blocks were split or joined.
-- So who stays in the index is read once, and nothing need be remembered of those that were read.
--
-- Bindings that versions without indexes made are in none: P:indexed tells for which apps the indexes of all and of channels
-- are whole.

local Index = {}  -- what later files use of it

do

local ALL = 'all'
local TOPIC = 'topic:'
local CHANNEL = 'channel:'
local ESCAPED = {[':'] = '%3A', ['%'] = '%25'}
local EVERY_APP = '*'  -- no app is called like this

-- The bound of the block that a user belongs to; nil when the index has no blocks.
local function bound_of(bounds, user)
  return redis.call('ZREVRANGEBYLEX', bounds, '[' .. user, '-', 'LIMIT', 0, 1)[1]
end

local function add_members(block, members, first)
  local words = {}
  for i = first, #members do words[#words + 1], words[#words + 2] = 0, members[i] end
  redis.call('ZADD', block, unpack(words))
end

-- Makes two of a block that is full: halves, or after an addition to its end one that stays full, for ids often ascend.
local function split(p, app, name, bounds, block, user)
  local members = redis.call('ZRANGE', block, 0, -1)
  local n = #members
  local first = members[n] == user and n or math.floor(n / 2) + 1
  add_members(KEY.block(p, app, name, members[first]), members, first)
  redis.call('ZREMRANGEBYRANK', block, first - 1, -1)
  redis.call('ZADD', bounds, 0, members[first])
end

-- Whether a block is to be split: at one of 16 sizes between 7/8 of the most and the most, by the block's name. Were it one size,
-- the blocks of channels with the same users would all be full at the same user, whose installation would split them in one call.
local function is_full(block)
  local members = redis.call('ZCARD', block)
  if members <= LIMIT.BLOCK_MAX * 7 / 8 then return false end
  return members > LIMIT.BLOCK_MAX * (1 - tonumber(string.sub(redis.sha1hex(block), 1, 1), 16) / 128)
end

-- What the index of a topic is called.
local function of_topic(topic) return TOPIC .. topic end

-- What the index of a channel is called. A colon in its name would make it part of another's keys.
local function of_channel(channel) return CHANNEL .. (string.gsub(channel, '[:%%]', ESCAPED)) end

-- Adds a user. Returns whether the user was not in the index. Raises what is wrong with its keys before anything is written.
local function add(p, app, name, user)
  local bounds = KEY.index(p, app, name)
  local bound = bound_of(bounds, user)
  local block = KEY.block(p, app, name, bound or '')
  if redis.call('ZADD', block, 0, user) == 0 then return false end
  if not bound then redis.call('ZADD', bounds, 0, '') end
  redis.call('HINCRBY', KEY.audiences(p, app), name, 1)
  if is_full(block) then split(p, app, name, bounds, block, user) end
  return true
end

-- Takes a block that has become empty out of the index, and moves the few members of a small one to the block before it.
local function shrink(p, app, name, bounds, bound, block, left)
  if bound ~= '' then
    local before = redis.call('ZREVRANGEBYLEX', bounds, '(' .. bound, '-', 'LIMIT', 0, 1)[1] or ''
    local neighbour = KEY.block(p, app, name, before)
    if left > 0 then
      if redis.call('ZCARD', neighbour) + left > LIMIT.BLOCK_MAX * 3 / 4 then return end
      add_members(neighbour, redis.call('ZRANGE', block, 0, -1), 1)
      redis.call('DEL', block)
    end
    redis.call('ZREM', bounds, bound)
  end
  if left == 0 and redis.call('ZCARD', bounds) == 1 and redis.call('EXISTS', KEY.block(p, app, name, '')) == 0 then
    redis.call('DEL', bounds)
  end
end

-- Removes a user. Returns whether the user was in the index.
local function remove(p, app, name, user)
  local bounds = KEY.index(p, app, name)
  local bound = bound_of(bounds, user)
  if not bound then return false end
  local block = KEY.block(p, app, name, bound)
  if redis.call('ZREM', block, user) == 0 then return false end
  local sizes = KEY.audiences(p, app)
  if redis.call('HINCRBY', sizes, name, -1) <= 0 then redis.call('HDEL', sizes, name) end
  local left = redis.call('ZCARD', block)
  if left < LIMIT.BLOCK_MAX / 8 then shrink(p, app, name, bounds, bound, block, left) end
  return true
end

-- How many users an index has.
local function size(p, app, name) return tonumber(redis.call('HGET', KEY.audiences(p, app), name) or '0') end

-- The next users behind a place, some LIMIT.MEMBERS_READ of them; '' is the place before all. Returns them, the place behind
-- them, and whether there are no more. Where blocks are small they are fewer.
local function page(p, app, name, place)
  local bounds = KEY.index(p, app, name)
  local bound, max = bound_of(bounds, place), LIMIT.MEMBERS_READ
  if not bound then return {}, place, true end
  local users = redis.call('ZRANGEBYLEX', KEY.block(p, app, name, bound), '(' .. place, '+', 'LIMIT', 0, max)
  local others = redis.call('ZRANGEBYLEX', bounds, '(' .. bound, '+', 'LIMIT', 0, LIMIT.BLOCKS_READ)
  for i, other in ipairs(others) do
    if #users >= max then break end
    bound = other
    for _, user in ipairs(redis.call('ZRANGE', KEY.block(p, app, name, other), 0, max - #users - 1)) do
      users[#users + 1] = user
    end
  end
  -- Redis may have lost a block: the place behind it is its bound.
  local last = users[#users] or bound
  return users, last, #users < max and #others < LIMIT.BLOCKS_READ
end

-- Whether the indexes of all and of channels hold every user of the app that they should.
local function is_whole(p, app)
  local marks = redis.call('HMGET', KEY.indexed(p), EVERY_APP, app)
  return (marks[1] or marks[2]) and true or redis.call('EXISTS', KEY.generation(p)) == 0
end

-- Notes that those of an app, or of every app, do.
local function make_whole(p, app) redis.call('HSET', KEY.indexed(p), app, '1') end

Index.ALL = ALL
Index.EVERY_APP = EVERY_APP
Index.of_topic = of_topic
Index.of_channel = of_channel
Index.add = add
Index.remove = remove
Index.size = size
Index.page = page
Index.is_whole = is_whole
Index.make_whole = make_whole

end
