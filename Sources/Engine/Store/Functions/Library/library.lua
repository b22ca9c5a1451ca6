-- pushpool's atomic state changes. Each function is one step of the queue protocol (docs/internals/protocol.md)
-- and safe to repeat. FCALL pushpool_<name>_@VERSION@ 1 <prefix> <arguments…>: the version is part of the
-- name, so old and new workers run side by side.
--
-- What stands in this file, in limits.lua, keys.lua and numbers.lua is seen by all that follow. Each of the others is a
-- block of its own, for Lua allows a chunk 200 local variables; what it gives to later ones stands in a table at its end.
--
-- KEYS[1] is always the key prefix P. Every key is P:…, so with a hash tag as the prefix ({pushpool}) all of
-- them live in one cluster slot. ARGV and reply stand above each function.
-- Reads that can fail (a wrong type under a key) come before the first write: a script is not rolled back.
-- Times are the server's, in epoch milliseconds.
-- NETWORKS and PRIORITIES stand before all files: StoreLibrary.swift makes them of the program's.

local GROUP = 'workers'
local WATCHERS = 'watchers'  -- of which each entry wakes one; see WorkSignal.swift
local PROBE = 'pushpool_probe'  -- see has_entry

-- yyyyMMddHHmm in UTC; the sandbox has no os.date. Days to civil date: Howard Hinnant's algorithm.
local function minute_of(ms)
  local minutes = math.floor(ms / 60000)
  local days = math.floor(minutes / 1440)
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local day = doy - math.floor((153 * mp + 2) / 5) + 1
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  local m = minutes % 1440
  return string.format('%04d%02d%02d%02d%02d', year, month, day, math.floor(m / 60), m % 60)
end

local function refuse_wrong_type(key, expected)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= expected then
    error({err = 'WRONGTYPE ' .. key .. ' holds a ' .. found .. ', not a ' .. expected})
  end
end

-- The process that answers, as Redis names it; '' when that may not be asked.
local function run_id()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
end

-- Finds the ends of the lines only: to copy them, as gsub does, takes many times as long.
local function lines_in(segment)
  local find, n, first = string.find, 0, 1
  local stop = find(segment, '\n', 1, true)
  while stop do
    n, first = n + 1, stop + 1
    stop = find(segment, '\n', first, true)
  end
  return first <= #segment and n + 1 or n
end

-- ---------------------------------------------------------------------------------------------------------
-- Streams

-- Runs a command that needs the consumer group, making stream and group when they are missing.
local function in_group(stream, ...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'NOGROUP', 1, true) then error(reply) end
  redis.call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM')
  return redis.call(...)
end

-- The number of deliveries of an entry that this consumer owns, or nil.
local function owned(stream, entry, consumer)
  local reply = redis.pcall('XPENDING', stream, GROUP, entry, entry, 1, consumer)
  if reply.err then
    if string.find(reply.err, 'NOGROUP', 1, true) then return nil end
    error(reply)
  end
  if #reply == 0 then return nil end
  return reply[1][4]
end

-- Whether a consumer owns entries of a stream: a function of the entry. Those between two ids are looked for together.
local function owned_between(stream, consumer, first, last)
  local reply = redis.pcall('XPENDING', stream, GROUP, first, last, LIMIT.OWNED_LISTED_MAX, consumer)
  if reply.err and not string.find(reply.err, 'NOGROUP', 1, true) then error(reply) end
  local found = {}
  for _, pending in ipairs(reply) do found[pending[1]] = true end
  -- What was not found may stand elsewhere, behind more than is listed, or have an id that no number of Lua's tells from its
  -- neighbour's.
  return function(entry)
    return found[entry] or string.find(entry, '^%d+%-%d+$') and owned(stream, entry, consumer) ~= nil
  end
end

-- The same, of those given: between the first and the last of them, for a lane has many others in hand.
local function owned_among(stream, consumer, entries)
  local first, last = entries[1], entries[1]
  local first_ms, first_seq, last_ms, last_seq = math.huge, 0, -1, 0
  for _, entry in ipairs(entries) do
    local ms, seq = string.match(entry, '^(%d+)-(%d+)$')
    ms, seq = tonumber(ms), tonumber(seq)
    if ms and (ms < first_ms or ms == first_ms and seq < first_seq) then first, first_ms, first_seq = entry, ms, seq end
    if ms and (ms > last_ms or ms == last_ms and seq > last_seq) then last, last_ms, last_seq = entry, ms, seq end
  end
  -- None of them is an id.
  if last_ms < 0 then return function() return false end end
  return owned_between(stream, consumer, first, last)
end

-- The entries of arguments that come in rows of (priority, entry, …), by priority.
local function entries_in(args, first, columns)
  local entries = {}
  for i = first, #args, columns do
    local of = entries[args[i]] or {}
    entries[args[i]] = of
    of[#of + 1] = args[i + 1]
  end
  return entries
end

local function drop_entry(stream, entry)
  redis.call('XACK', stream, GROUP, entry)
  redis.call('XDEL', stream, entry)
end

local function fields_of(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

-- The value of the last field of that name; nearly always it is the only one.
local function field_of(flat, name)
  if #flat == 2 then return flat[1] == name and flat[2] or nil end
  return fields_of(flat)[name]
end

-- The id of the last entry that each group of a stream was given.
local function places(stream)
  local groups, ids = redis.pcall('XINFO', 'GROUPS', stream), {}
  for _, flat in ipairs(groups.err and {} or groups) do
    local group = fields_of(flat)
    ids[group.name] = group['last-delivered-id']
  end
  return ids
end

-- The id of the last entry of a stream that was given to a worker in its turn, or nil: those up to it are held by somebody, or
-- wait elsewhere.
local function last_given(stream) return places(stream)[GROUP] end

-- Whether one id of a stream is behind another.
local function is_behind(one, other)
  local ms, seq = string.match(one, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  if ms ~= other_ms then return tonumber(ms) > tonumber(other_ms) end
  return tonumber(seq) > tonumber(other_seq)
end

-- Whether a stream has an entry. XRANGE would copy it, and a job may have megabytes: a group that lives for this call tells
-- it by the id alone.
local function has_entry(stream, entry)
  if redis.call('EXISTS', stream) == 0 then return false end
  -- Somebody may have left one behind.
  local created = redis.pcall('XGROUP', 'CREATE', stream, PROBE, '0')
  if created.err and not string.find(created.err, 'BUSYGROUP', 1, true) then error(created) end
  local found = redis.pcall('XCLAIM', stream, PROBE, PROBE, 0, entry, 'FORCE', 'JUSTID')
  redis.call('XGROUP', 'DESTROY', stream, PROBE)
  if found.err then error(found) end
  return #found > 0
end

-- The mean bytes of a stream's entries when there may be some among them that no function is to read; else nil. To copy ten
-- megabytes takes a function 30 ms, and a lane's own command 5. Redis does not tell how large an entry is, only the stream. And
-- whether the stream takes more than small entries would, also where there is no such mean. And, if known, the weight of any
-- entries: {mean bytes, is_sure: whether a lane can take all of them in one reply}.
local function large_mean(stream)
  local length = redis.call('XLEN', stream)
  if length == 0 then return nil end
  local bytes = redis.pcall('MEMORY', 'USAGE', stream, 'SAMPLES', length <= LIMIT.WEIGHED_MAX and 0 or LIMIT.WEIGHED_FIRST)
  -- No number: Redis' user may not ask.
  if type(bytes) ~= 'number' then return nil end
  local mean = bytes / length
  local weight = {mean = mean, is_sure = length <= LIMIT.WEIGHED_MAX and bytes <= LIMIT.READ_BYTES_MAX}
  if bytes <= math.max(LIMIT.COPIED_BYTES_MAX, length * LIMIT.GLANCE_BYTES) then return nil, false, weight end
  -- One of them may be more than a lane takes in a reply. It is no job then, and a function says so.
  if bytes > LIMIT.READ_BYTES_MAX then return nil, true, weight end
  return mean, true, weight
end

-- Claims an entry: {entry, fields}, or {entry} when it is not to be read here; nil when it is gone.
local function claim_item(is_unread, stream, consumer, entry, ...)
  if not is_unread then return in_group(stream, 'XCLAIM', stream, GROUP, consumer, 0, entry, ...)[1] end
  local words = {...}
  words[#words + 1] = 'JUSTID'
  local found = in_group(stream, 'XCLAIM', stream, GROUP, consumer, 0, entry, unpack(words))
  return found[1] and {found[1]}
end

-- New entries for the consumer: {{entry, fields}…}.
local function read_new(stream, consumer, count)
  local reply = in_group(
    stream, 'XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', count, 'STREAMS', stream, '>')
  if not reply then return {} end
  return reply[1][2]
end

-- Whether leases that look over may be taken over. After an outage of Redis all of them look over. So nothing is taken over
-- for half a lease and a second after the first worker beats again: time for those who live to renew theirs.
local function may_take_over(p, lease_ms, now)
  local since = redis.call('GET', KEY.workers_since(p))
  if not since then return true end
  local last = redis.call('ZREVRANGE', KEY.workers(p), 0, 0, 'WITHSCORES')[2]
  return last and now - tonumber(last) <= LIMIT.ALIVE_MS and
    now - tonumber(since) >= tonumber(lease_ms) / 2 + LIMIT.RENEWED_MS
end

-- Whether the worker of a consumer (<worker>-<lane>) has beaten so lately that it cannot have died a lease ago.
local function is_alive(p, consumer, lease_ms, now)
  local worker = string.match(consumer, '^(.*)%-%d+$')
  local beat = worker and redis.pcall('ZSCORE', KEY.workers(p), worker)
  if type(beat) ~= 'string' then return false end
  -- A beat from the future is none: the clock went back, and nobody has beaten since.
  return now - tonumber(beat) < math.min(LIMIT.ALIVE_MS, tonumber(lease_ms) / 2) and tonumber(beat) - now <= LIMIT.STEPPED_MS
end

-- Whether one of those who have entries of a stream in hand has missed its beats.
local function is_anybody_silent(p, stream, now)
  local pending = redis.pcall('XPENDING', stream, GROUP)
  for _, consumer in ipairs(not pending.err and pending[4] or {}) do
    if not is_alive(p, consumer[1], 2 * LIMIT.ALIVE_MS, now) then return true end
  end
  return false
end

-- Takes over entries of consumers that have been silent for a lease, the oldest first, at most max, and as long as
-- may_take(losses) holds if that is given: each goes to take(item, deliveries, losses).
-- An entry that a living worker left lying was given to it in a reply that got lost. That is no crash of this worker:
-- its delivery does not count. Those that are not to be read here come as {entry}.
local function read_abandoned(p, stream, consumer, lease_ms, max, now, take, may_take, is_unread)
  if not may_take_over(p, lease_ms, now) then return end
  for _, pending in ipairs(in_group(stream, 'XPENDING', stream, GROUP, 'IDLE', lease_ms, '-', '+', max)) do
    local entry, owner, losses = pending[1], pending[2], pending[4]
    if is_alive(p, owner, lease_ms, now) then losses = losses - 1 end
    if may_take and not may_take(losses) then break end
    local item = claim_item(is_unread, stream, consumer, entry, 'RETRYCOUNT', losses + 1)
    if item then take(item, losses + 1, losses) end
  end
end

-- Those of the pairs (priority, entry) in args, from one on, that are of a priority; as a set, and how many.
local function in_hand(args, first, priority)
  local entries, count = {}, 0
  for i = first, #args, 2 do
    if args[i] == priority then entries[args[i + 1]], count = true, count + 1 end
  end
  return entries, count
end

-- Entries that the consumer owns without knowing: it was given them by an answer that did not reach it, and has others in
-- hand, in args from first on. Each goes to take(item, deliveries), at most max and while has_room(); its lease begins anew,
-- and no delivery is counted. Those that are not to be read here come as {entry}, and those are left out for which keeps(entry), if
-- that is given, does not hold.
local function read_unanswered(stream, consumer, args, first, priority, max, has_room, take, is_unread, keeps)
  local known, count = in_hand(args, first, priority)
  for _, pending in ipairs(in_group(stream, 'XPENDING', stream, GROUP, '-', '+', count + max, consumer)) do
    if max > 0 and has_room() and not known[pending[1]] and (not keeps or keeps(pending[1])) then
      max = max - 1
      local item = claim_item(is_unread, stream, consumer, pending[1], 'RETRYCOUNT', pending[4])
      if item then take(item, pending[4]) end
    end
  end
end

-- Names an admission: entry ids of two streams can be equal, the priority's initial tells them apart.
local function source_of(priority, entry) return string.sub(priority, 1, 1) .. entry end

-- Removes what was uploaded of a job that will not start. Uploads go in order: what is missing ends it. What has no end is a job's
-- that goes on, which came by the same entry id.
local function drop_uploaded(p, source)
  if redis.call('TTL', KEY.segment(p, '1', source)) < 0 then return end
  local first, page = 1, LIMIT.UPLOADED_PAGE
  repeat
    local segments = {}
    for n = first, first + page - 1 do segments[#segments + 1] = KEY.segment(p, text(n), source) end
    first = first + page
  until redis.call('UNLINK', unpack(segments)) < page or first > LIMIT.SEGMENTS_MAX
end

-- A dead letter. A large original is kept beside the entry, under P:letter:<entry>, and `kept` names its field: so the
-- letters can be read without being copied.
local function dead_letter(p, now, ...)
  local fields, original = {'at', text(now), ...}, nil
  for i = 1, #fields, 2 do
    if not original and #fields[i + 1] > LIMIT.LETTER_BYTES_MAX then
      original, fields[i + 1] = fields[i + 1], ''
      fields[#fields + 1], fields[#fields + 2] = 'kept', fields[i]
    end
  end
  if original then
    -- A version that does not know `kept` must not retry what it cannot see.
    for i = 1, #fields, 2 do if fields[i] == 'truncated' then fields[i + 1] = '1' end end
  end
  local entry = redis.call('XADD', KEY.dead(p), '*', unpack(fields))
  if original then redis.call('SET', KEY.letter(p, entry), original) end
  return entry
end

-- The fields of an entry of the dead letters, with its original.
local function whole_letter(p, item)
  local fields = fields_of(item[2])
  if fields.kept then
    fields[fields.kept] = redis.call('GET', KEY.letter(p, item[1])) or ''
    fields.truncated = '0'
  end
  return fields
end

-- The bytes of an entry's fields.
local function size_of(flat)
  if #flat == 2 then return #flat[1] + #flat[2] end
  local bytes = 0
  for _, word in ipairs(flat) do bytes = bytes + #word end
  return bytes
end

-- allow-oom: what finishes, frees or guards work goes on when Redis is full; what brings new work does not.
local function register(name, callback, flags)
  redis.register_function{
    function_name = 'pushpool_' .. name .. '_@VERSION@', callback = callback, flags = flags or {}}
end
