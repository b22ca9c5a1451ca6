-- Badges that a job raises. An installation's badge is raised once for a job, however often its push is sent: what a chunk has
-- given stands in a HASH beside its segment until it is settled, and then in the lines of what is sent again.

local Badges = {}  -- what later files use of it

do

-- An installation's next badge; nil when it is not the user's, or the record is none.
local function next_of(record, user)
  local r = redis.pcall('HMGET', record, 'user', 'badge')
  if r.err or r[1] ~= user then return nil end
  local badge = tonumber(r[2] or '0')
  -- What is no number, or beyond one, was written by somebody else.
  if not badge or badge ~= badge or badge < 0 then badge = 0 end
  return text(math.min(math.floor(badge) + 1, LIMIT.BADGE_MAX))
end

-- badges — ARGV: consumer, priority, entry, app, segment, source, 1 to give them or 0 to only look, then network, token and user
-- of each installation. The chunk must be the caller's: of one that has ended nobody knows any more what it gave.
-- Reply: {badge, or '' when the token is another user's by now…} | STALE
local function badges(keys, args)
  local p, consumer, priority, entry, app, segment, source, is_giving = keys[1], unpack(args, 1, 7)
  if not owned(KEY.chunks(p, priority), entry, consumer) then return 'STALE' end
  local given, reply = KEY.badges(p, segment, source), {}
  for i = 8, #args, 3 do
    local network, token, user = args[i], args[i + 1], args[i + 2]
    local name = network .. ':' .. token .. ':' .. user
    local badge = redis.call('HGET', given, name)
    if not badge then
      local record = KEY.token(p, network, app, token)
      badge = next_of(record, user)
      if badge and is_giving == '1' then
        redis.call('HSET', record, 'badge', badge)
        redis.call('HSET', given, name, badge)
      end
    end
    reply[#reply + 1] = badge or ''
  end
  return reply
end

-- set_badge — ARGV: app, user, badge, then network and token of the one installation that is meant, or of none for all of the
-- user's. Reply: how many there are
local function set_badge(keys, args)
  local p, app, user, badge, network, token = keys[1], unpack(args, 1, 5)
  local count = 0
  for line in string.gmatch(redis.call('GET', KEY.user(p, app, user)) or '', '[^\n]+') do
    local of, own = string.match(line, '^([^\t.]*)[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t(.*)')
    if of and (not network or (of == network and own == token)) then
      redis.call('HSET', KEY.token(p, of, app, own), 'badge', badge)
      count = count + 1
    end
  end
  return count
end

-- What a chunk gave goes with its dead letter, and from there with the chunk that is made of it.
local function move(from, to)
  if redis.call('EXISTS', from) == 1 then redis.call('RENAME', from, to) end
end

register('badges', badges, {'allow-oom'})
register('set_badge', set_badge)

Badges.bury = function(p, c, letter) move(KEY.badges(p, c.segment, c.source), KEY.letter_badges(p, letter)) end
Badges.dig_out = function(p, letter, segment, source) move(KEY.letter_badges(p, letter), KEY.badges(p, segment, source)) end

end
