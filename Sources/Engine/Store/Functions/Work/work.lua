-- What waits in the streams: since when, and how far the watchers have been told of it.

do

-- The id of the first entry of a stream behind another, or nil. To learn it Redis copies the entry whole.
local function first_behind(stream, given)
  local items = redis.pcall('XRANGE', stream, '(' .. given, '+', 'COUNT', 1)
  return not items.err and items[1] and items[1][1] or nil
end

-- The id of the first job of a priority that nobody has taken, or nil. A job may have megabytes, which take milliseconds to
-- copy. So the fleet remembers it as long as it is the first, and one that may be so large is looked for by the caller: then
-- behind which entry is the second that is returned.
local function first_waiting_job(p, priority)
  local key, stream = KEY.oldest(p), KEY.jobs(p, priority)
  local given = last_given(stream) or '0-0'
  local known = redis.call('HGET', key, priority)
  if known and is_behind(known, given) and has_entry(stream, known) then return known end
  if large_mean(stream) then return nil, given end
  local entry = first_behind(stream, given)
  if entry then redis.call('HSET', key, priority, entry) elseif known then redis.call('HDEL', key, priority) end
  return entry
end

-- As above, of the chunks: their entries are small.
local function first_waiting_chunk(p, priority)
  local stream = KEY.chunks(p, priority)
  return first_behind(stream, last_given(stream) or '0-0')
end

-- oldest — ARGV: (priority, entry)… of first jobs that the caller has looked for. Notes of each priority, under <priority>|since, since
-- when its oldest job or chunk waits, or '0', and under `at` when that was looked at: for who only reads.
-- Reply: {for how many ms the oldest job or chunk that nobody has taken has been waiting; 0 without any, (priority, behind which
-- entry the caller is to look for its first job)…}
local function oldest(keys, args)
  local p, now = keys[1], now_ms()
  if #args > 0 then redis.call('HSET', KEY.oldest(p), unpack(args)) end
  local since, unknown, notes = now, {}, {'at', text(now)}
  for _, priority in ipairs(PRIORITIES) do
    local first_ms, is_known = now, true
    for _, first in ipairs({first_waiting_job, first_waiting_chunk}) do
      local entry, behind = first(p, priority)
      if entry then first_ms = math.min(first_ms, tonumber(string.match(entry, '^%d+'))) end
      if behind then
        is_known = false
        unknown[#unknown + 1], unknown[#unknown + 2] = priority, behind
      end
    end
    since = math.min(since, first_ms)
    if is_known then
      notes[#notes + 1], notes[#notes + 2] = priority .. '|since', first_ms < now and text(first_ms) or '0'
    end
  end
  redis.call('HSET', KEY.oldest(p), unpack(notes))
  redis.call('EXPIRE', KEY.oldest(p), LIMIT.METRICS_S)
  return {now - since, unpack(unknown)}
end

-- watch — ARGV: (kind, priority, entry)… of which the caller was told and which its lanes have no room for. Moves the watchers'
-- place in each stream on to the last entry that was given to a worker. Where an entry is given back that nobody has yet, the
-- place goes back as far, so that other watchers are told of all that waits.
local function watch(keys, args)
  local p, back = keys[1], {}
  for i = 1, #args, 3 do back[KEY[args[i]](p, args[i + 1])] = args[i + 2] end
  for _, kind in ipairs({'jobs', 'chunks'}) do
    for _, priority in ipairs(PRIORITIES) do
      local stream = KEY[kind](p, priority)
      local at, entry = places(stream), back[stream]
      local place, given = at[WATCHERS], at[GROUP] or '0-0'
      if not place then
        redis.call('XGROUP', 'CREATE', stream, WATCHERS, given, 'MKSTREAM')
      elseif is_behind(given, place) or entry and is_behind(entry, given) then
        redis.call('XGROUP', 'SETID', stream, WATCHERS, given)
      end
    end
  end
end

register('oldest', oldest, {'allow-oom'})
register('watch', watch, {'allow-oom'})

end
