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

-- give_badges — ARGV: consumer, priority, entry, app, segment, source, then network, token and user of each installation, and
-- what is asked: give (the next badge), look (which that would be) or recall (what the chunk has given before). The chunk must
-- be the caller's: when a chunk ends, Redis forgets what it gave.
-- Reply: {badge, or '' when the token is another user's by now, or nothing was given…} | STALE
local function give_badges(keys, args)
  local p, consumer, priority, entry, app, segment, source = keys[1], unpack(args, 1, 6)
  if not owned(KEY.chunks(p, priority), entry, consumer) then return 'STALE' end
  local names, fresh = {}, {}
  -- Neither a token nor a user holds a tab.
  for i = 7, #args, 4 do names[#names + 1] = table.concat(args, '\t', i, i + 2) end
  if #names == 0 then return {} end
  local key = KEY.badges(p, segment, source)
  local badges = redis.call('HMGET', key, unpack(names))
  for n = 1, #names do
    if not badges[n] then
      local i = 3 + 4 * n
      local record = KEY.token(p, args[i], app, args[i + 1])
      local badge = args[i + 3] ~= 'recall' and next_of(record, args[i + 2])
      badges[n] = badge or ''
      if badge and args[i + 3] == 'give' then
        redis.call('HSET', record, 'badge', badge)
        fresh[#fresh + 1], fresh[#fresh + 2] = names[n], badge
      end
    end
  end
  if #fresh > 0 then redis.call('HSET', key, unpack(fresh)) end
  return badges
end

-- set_badge — ARGV: app, user, badge, then network and token of the one installation that is meant, or of none for all of the
-- user's. Reply: how many there are
local function set_badge(keys, args)
  local p, app, user, badge, network, token = keys[1], unpack(args, 1, 5)
  local count = 0
  for line in string.gmatch(redis.call('GET', KEY.user(p, app, user)) or '', '[^\n]+') do
    local of, own = string.match(line, '^([^\t.]*)[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t(.*)')
    if of and (not network or (of == network and own == token)) then
      local record = KEY.token(p, of, app, own)
      if redis.pcall('HGET', record, 'user') == user then
        redis.call('HSET', record, 'badge', badge)
        count = count + 1
      end
    end
  end
  return count
end

local function move(from, to)
  if redis.call('EXISTS', from) == 1 then redis.call('RENAME', from, to) end
end

register('give_badges', give_badges, {'allow-oom'})
register('set_badge', set_badge)

-- What a chunk gave goes with its dead letter, and from there to the chunk that a retry makes of it.
Badges.bury = function(p, c, letter) move(KEY.badges(p, c.segment, c.source), KEY.letter_badges(p, letter)) end
Badges.restore = function(p, letter, segment, source) move(KEY.letter_badges(p, letter), KEY.badges(p, segment, source)) end

end
