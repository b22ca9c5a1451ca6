-- Fairness. Entries and chunks wait in streams, first come, first served. So that an app with a long queue does not
-- hold up the others, few chunks wait in a stream at a time, each app has a share of it that nobody else fills, and
-- while jobs wait for that a scout reads ahead of them and lets every app take its turn.

local Fairness = {}  -- what later files use of it

do

-- Chunks that wait in a stream, how many should at most, and the number of consumers at work.
local function crowd(p, priority)
  local stream = KEY.chunks(p, priority)
  local length = redis.call('XLEN', stream)
  if length < LIMIT.AHEAD_MIN then return length, LIMIT.AHEAD_MIN, 0 end
  local pending = redis.pcall('XPENDING', stream, GROUP)
  if pending.err then return length, LIMIT.AHEAD_MIN, 0 end
  return length - pending[1], math.max(LIMIT.AHEAD_MIN, pending[1]), pending[4] and #pending[4] or 0
end

-- Chunks that an app may add to a stream whatever others have in it; 0 or less when it has its share.
local function share_left(p, priority, app)
  return LIMIT.SHARE - tonumber(redis.call('HGET', KEY.share(p, priority), app) or '0')
end

-- How many chunks an app may add to a stream now.
local function room(p, priority, app)
  local waiting, ahead = crowd(p, priority)
  return math.max(ahead - waiting, share_left(p, priority, app))
end

-- Whether jobs have to wait: for the chunks in the stream and for those that are due and follow.
local function is_full(p, priority, now)
  local waiting, ahead, consumers = crowd(p, priority)
  if waiting < ahead then waiting = waiting + Ready.count(p, priority, ahead - waiting) end
  return waiting >= ahead, consumers
end

local function drop_chunk(p, c, entry)
  drop_entry(KEY.chunks(p, c.priority), entry)
  local key = KEY.share(p, c.priority)
  if redis.call('HINCRBY', key, c.app, -1) <= 0 then redis.call('HDEL', key, c.app) end
end

-- ---------------------------------------------------------------------------------------------------------
-- The scout. It sees through the eyes of the lanes, each of which is asked in its turn to read on: to copy a job into Lua costs
-- Redis ten times what a command of its own does. Its HASH:
--   cursor: the last entry it has seen; more: 1 when it saw that others stand behind
--   x:<app>: the app's next entries; r:<app>: behind which more of them are
--   c:<entry>: who took an entry out of its turn
--   at: when a lane was asked last; asked: 1 until it has answered; page: how many entries it is asked for
--   app_at, app_asked, app_page: the same of looks for the entries of one app
-- Its LIST is the ring of the apps that have an x or r. But for c they only order: what is lost with them waits in the stream.

-- Whether it is time for another look, for the whole fleet: `kind` is '' for all entries, 'app_' for those of one app.
local function may_look(key, kind, now, is_held)
  local v = redis.call('HMGET', key, kind .. 'at', kind .. 'asked', 'more')
  local at, wait = tonumber(v[1] or '0'), LIMIT.SCOUT_MS
  -- While the order is held back, whoever has just come is looked for at once.
  if is_held and not v[3] then wait = 0 end
  -- A lane that was asked may have died.
  if v[2] then wait = LIMIT.SCOUT_ANSWER_MS end
  return now < at or now >= at + wait
end

-- Behind which entry the scout looks on. Those that were given in their turn need not be looked for.
local function scouted_to(p, priority)
  local given = last_given(KEY.jobs(p, priority)) or '0-0'
  local cursor = redis.call('HGET', KEY.scout(p, priority), 'cursor')
  return cursor and is_behind(cursor, given) and cursor or given
end

-- Lists the entries that were added since the last look: of each app the next ones, and behind which it has more.
-- Returns see(entry, its app, the entry before), and what is to be called when all are seen.
local function list_of_apps(p, priority)
  local key, ring = KEY.scout(p, priority), KEY.express(p, priority)
  local ringed, apps = redis.call('LLEN', ring), {}
  local function see(entry, app, before)
    local known = apps[app]
    if not known then
      local v = redis.call('HMGET', key, 'x:' .. app, 'r:' .. app)
      local _, n = string.gsub(v[1] or '', ' ', '')
      known = {entries = v[1] or '', n = n, behind = v[2], is_ringed = v[1] or v[2]}
      apps[app] = known
    end
    if not known.is_ringed then
      if ringed >= LIMIT.EXPRESS_APPS_MAX then return end
      ringed = ringed + 1
      redis.call('RPUSH', ring, app)
      known.is_ringed = true
    end
    if known.n < LIMIT.EXPRESS_PER_APP and not known.behind then
      known.entries, known.n, known.has_news = known.entries .. entry .. ' ', known.n + 1, true
    elseif not known.behind then
      known.behind = before
      redis.call('HSET', key, 'r:' .. app, before)
    end
  end
  local function conclude(last, has_more)
    for app, known in pairs(apps) do
      if known.has_news then redis.call('HSET', key, 'x:' .. app, known.entries) end
    end
    redis.call('HSET', key, 'cursor', last)
    if has_more then redis.call('HSET', key, 'more', '1') else redis.call('HDEL', key, 'more') end
  end
  return see, conclude
end

-- Lists more entries of an app, from where the scout stopped to list them to where it has come. Returns as above.
local function list_of_app(p, priority, wanted)
  local key = KEY.scout(p, priority)
  local entries, n, stopped = '', 0, nil
  local function see(entry, app, before)
    if app ~= wanted then return end
    if n < LIMIT.EXPRESS_PER_APP then
      entries, n = entries .. entry .. ' ', n + 1
    elseif not stopped then
      stopped = before
    end
  end
  local function conclude(last, has_more)
    if n > 0 then redis.call('HSET', key, 'x:' .. wanted, entries) end
    -- Those that were seen meanwhile were not listed, since the app has more.
    if stopped or has_more or redis.call('HGET', key, 'cursor') ~= last then
      redis.call('HSET', key, 'r:' .. wanted, stopped or last)
    else
      redis.call('HDEL', key, 'r:' .. wanted)
      if redis.call('HEXISTS', key, 'x:' .. wanted) == 0 then redis.call('LREM', KEY.express(p, priority), 0, wanted) end
    end
  end
  return see, conclude
end

-- Has the lane that calls read entries behind `from`, up to `to`, for list_ahead: all, or those of an app.
-- weight: as large_mean has it, or nil. Unless it is sure, few are asked for at first, and more as they turn out to be small: a reply
-- must not be more than a lane reads.
local function ask_to_look(p, priority, app, from, to, now, weight, asked)
  local key, kind = KEY.scout(p, priority), app and 'app_' or ''
  local v = redis.call('HMGET', key, kind .. 'page', kind .. 'asked')
  local page = not v[2] and tonumber(v[1]) or LIMIT.READ_AHEAD_FIRST
  redis.call('HSET', key, kind .. 'at', text(now), kind .. 'asked', '1', kind .. 'page', page)
  if not app then redis.call('HSET', key, 'cursor', from) end
  local at_once = weight and weight.is_sure and LIMIT.READ_AHEAD_MAX or page
  if weight then at_once = math.min(at_once, LIMIT.READ_AHEAD_BYTES_MAX / weight.mean) end
  asked[#asked + 1] = {'LOOK', priority, from, to, app or false, math.max(1, math.floor(at_once))}
end

-- list_ahead — ARGV: priority, behind which entry, the last one, 1 when there are more else 0, 1 when they are small else 0,
-- queue | app, that app or '',
-- (entry, its app)… What a lane saw that was asked to LOOK; of each app the first entries are enough, one more than are listed.
-- Reply: OK | STALE (somebody has looked from there)
local function list_ahead(keys, args)
  local p, priority, from, last, has_more = keys[1], args[1], args[2], args[3], args[4] == '1'
  local key, kind = KEY.scout(p, priority), args[6] == 'app' and 'app_' or ''
  local page = tonumber(redis.call('HGET', key, kind .. 'page') or '0')
  redis.call('HDEL', key, kind .. 'asked')
  redis.call('HSET', key, kind .. 'page',
    args[5] == '1' and math.max(LIMIT.READ_AHEAD_FIRST, math.min(page * 4, LIMIT.READ_AHEAD_MAX)) or LIMIT.READ_AHEAD_FIRST)
  local see, conclude
  if kind == 'app_' then
    if redis.call('HGET', key, 'r:' .. args[7]) ~= from then return 'STALE' end
    see, conclude = list_of_app(p, priority, args[7])
  else
    if redis.call('HGET', key, 'cursor') ~= from then return 'STALE' end
    see, conclude = list_of_apps(p, priority)
  end
  local before = from
  for i = 8, #args, 2 do
    see(args[i], args[i + 1], before)
    before = args[i]
  end
  conclude(last, has_more)
  return 'OK'
end

-- Leases an entry that nobody has, for consumer; nil when it is gone or somebody has it. One that is not to be read here comes
-- as {entry}.
local function claim_out_of_turn(p, priority, entry, consumer, deliveries, is_unread)
  local stream = KEY.jobs(p, priority)
  local pending = redis.pcall('XPENDING', stream, GROUP, entry, entry, 1)
  if not pending.err and #pending > 0 then return nil end
  local item = claim_item(is_unread, stream, consumer, entry, 'FORCE', 'RETRYCOUNT', deliveries)
  if item then redis.call('HSET', KEY.scout(p, priority), 'c:' .. entry, consumer) end
  return item
end

-- The next entry of the next app that has its turn and room for chunks; nil when there is none.
local function next_in_turn(p, priority, consumer, now, mean, weight, asked)
  local key, ring = KEY.scout(p, priority), KEY.express(p, priority)
  for _ = 1, math.min(redis.call('LLEN', ring), LIMIT.TURNS_MAX) do
    local app = redis.call('LMOVE', ring, ring, 'LEFT', 'RIGHT')
    if share_left(p, priority, app) > 0 then
      local v = redis.call('HMGET', key, 'x:' .. app, 'r:' .. app)
      if not v[1] and v[2] and may_look(key, 'app_', now) then
        ask_to_look(p, priority, app, v[2], redis.call('HGET', key, 'cursor') or '0-0', now, weight, asked)
      end
      local entries, rest, item = v[1] or '', nil, nil
      -- Some of them may have had their turn in the stream's order.
      repeat
        local entry, others = string.match(entries, '^(%S+) (.*)$')
        if entry then entries, rest, item = others, others, claim_out_of_turn(p, priority, entry, consumer, 1, mean) end
      until item or not entry
      if rest == '' then redis.call('HDEL', key, 'x:' .. app) end
      if rest and rest ~= '' then
        redis.call('HSET', key, 'x:' .. app, rest)
      elseif not v[2] then
        redis.call('RPOP', ring)
      end
      if item then return item end
    end
  end
end

-- Gives an entry back to who took it out of its turn, now that its stream has come to it.
local function give_back(p, priority, entry, owner)
  redis.call('HDEL', KEY.scout(p, priority), 'c:' .. entry)
  redis.call('XCLAIM', KEY.jobs(p, priority), GROUP, owner, 0, entry, 'RETRYCOUNT', 1, 'JUSTID')
end

-- Of {entry, …} that were given in the stream's order, those that nobody took out of their turn. The others go back to whom
-- they were given to.
local function not_taken(p, priority, items)
  local key, free, fields = KEY.scout(p, priority), {}, {}
  if #items == 0 or redis.call('EXISTS', key) == 0 then return items end
  for i, item in ipairs(items) do fields[i] = 'c:' .. item[1] end
  local owners = redis.call('HMGET', key, unpack(fields))
  for i, item in ipairs(items) do
    if owners[i] then give_back(p, priority, item[1], owners[i]) else free[#free + 1] = item end
  end
  return free
end

-- Whether a consumer keeps an entry that it was given without knowing. What another took out of its turn goes back to that one;
-- what it took so itself it keeps, for the reply was lost.
local function keep_or_give_back(p, priority, entry, consumer)
  local owner = redis.call('HGET', KEY.scout(p, priority), 'c:' .. entry)
  if not owner or owner == consumer then return true end
  give_back(p, priority, entry, owner)
  return false
end

-- The stream's next entries, up to max and some bytes; those taken out of their turn stay with whom they were given to. Fewer
-- than max may not be all; none are.
local function next_in_order(p, priority, consumer, max, bytes_max)
  while true do
    -- One at first, for it may be large, and more as they turn out to be small.
    local items, bytes, at_once = {}, 0, 1
    repeat
      local more, before = read_new(KEY.jobs(p, priority), consumer, math.min(at_once, max - #items)), bytes
      for _, item in ipairs(more) do
        items[#items + 1] = item
        bytes = bytes + size_of(item[2])
      end
      local are_small = bytes - before < #more * LIMIT.GLANCE_BYTES
      at_once = are_small and math.min(at_once * 2, LIMIT.TAKEN_AT_ONCE) or 1
    until #more == 0 or #items >= max or bytes >= bytes_max
    local free = not_taken(p, priority, items)
    if #free > 0 or #items == 0 then return free end
  end
end

-- keep_turns — ARGV: priority, entry… that the caller was given by a read of its own. Those that somebody took out of their
-- turn go back to whom they were given to. Reply: the other entries
local function keep_turns(keys, args)
  local items = {}
  for i = 2, #args do items[i - 1] = {args[i]} end
  local free = not_taken(keys[1], args[1], items)
  for i, item in ipairs(free) do free[i] = item[1] end
  return free
end

-- Whether a consumer owns job entries of a priority, as `has` says; also those that it took out of their turn and that another
-- is reading, who gives them back.
local function job_owner(p, priority, consumer, has)
  return function(entry)
    return has(entry) or redis.call('HGET', KEY.scout(p, priority), 'c:' .. entry) == consumer
  end
end

-- The same of one entry: how often it was delivered, nil when it is not the consumer's.
local function owned_job(p, priority, entry, consumer)
  local deliveries = owned(KEY.jobs(p, priority), entry, consumer)
  if deliveries then return deliveries end
  return redis.call('HGET', KEY.scout(p, priority), 'c:' .. entry) == consumer and 1 or nil
end

-- Whether several apps have jobs that wait, as far as the scout has seen.
local function are_several(p, priority) return redis.call('LLEN', KEY.express(p, priority)) > 1 end

-- How many entries of each stream were dropped here, whatever others have deleted of them before: by that it is known what others
-- delete (streams.lua). As Redis' process keeps it: a command for each would cost a small job a hundredth.
local ended = {}

local function count_ended(stream, n) ended[stream] = (ended[stream] or 0) + n end

local function drop_job(p, priority, entry)
  local stream = KEY.jobs(p, priority)
  local acked = redis.call('XACK', stream, GROUP, entry)
  count_ended(stream, math.max(acked, redis.call('XDEL', stream, entry)))
  redis.call('HDEL', KEY.scout(p, priority), 'c:' .. entry)
end

local function drop_jobs(p, priority, entries)
  if #entries == 0 then return end
  local stream, key, fields = KEY.jobs(p, priority), KEY.scout(p, priority), {}
  -- What nobody was given yet is another job, that has come by the same entry id: the stream was deleted.
  local acked = redis.call('XACK', stream, GROUP, unpack(entries))
  if acked < #entries then
    local given, gone = last_given(stream) or '0-0', {}
    for _, entry in ipairs(entries) do
      if not is_behind(entry, given) then gone[#gone + 1] = entry end
    end
    if #gone == 0 then return end
    entries = gone
  end
  count_ended(stream, math.max(acked, redis.call('XDEL', stream, unpack(entries))))
  for i, entry in ipairs(entries) do fields[i] = 'c:' .. entry end
  redis.call('HDEL', key, unpack(fields))
end

-- Brings the scout up to date where jobs have to wait, and forgets what it knew when none do.
-- Returns whether the stream's next entry is held back.
local function look_at_queue(p, priority, now, weight, asked)
  local length = redis.call('XLEN', KEY.jobs(p, priority))
  if length == 0 then redis.call('UNLINK', KEY.scout(p, priority), KEY.express(p, priority)) end
  if redis.call('XLEN', KEY.chunks(p, priority)) == 0 then redis.call('UNLINK', KEY.share(p, priority)) end
  if length == 0 then return false end
  local is_held = is_full(p, priority, now)
  if (is_held or length >= LIMIT.BACKLOG_MIN) and may_look(KEY.scout(p, priority), '', now, is_held) then
    ask_to_look(p, priority, nil, scouted_to(p, priority), '+', now, weight, asked)
  end
  return is_held
end

-- held_back — no ARGV. Reply: 0, or in how many ms to take jobs again because some wait for chunks to be finished,
-- which no stream tells of; longer the more ask
local function held_back(keys)
  local p, ms, now = keys[1], 0, now_ms()
  for _, priority in ipairs(PRIORITIES) do
    local is_held, consumers = is_full(p, priority, now)
    if is_held and redis.call('XLEN', KEY.jobs(p, priority)) > 0 then
      ms = math.max(ms, LIMIT.HELD_MS, 2 * consumers)
    end
  end
  return ms
end

register('held_back', held_back, {'no-writes'})
register('list_ahead', list_ahead)
register('keep_turns', keep_turns)

Fairness.crowd = crowd
Fairness.share_left = share_left
Fairness.room = room
Fairness.drop_chunk = drop_chunk
Fairness.claim_out_of_turn = claim_out_of_turn
Fairness.next_in_turn = next_in_turn
Fairness.next_in_order = next_in_order
Fairness.are_several = are_several
Fairness.job_owner = job_owner
Fairness.owned_job = owned_job
Fairness.keep_or_give_back = keep_or_give_back
Fairness.drop_job = drop_job
Fairness.drop_jobs = drop_jobs
Fairness.ended = ended
Fairness.look_at_queue = look_at_queue

end
