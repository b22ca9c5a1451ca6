#!lua name=pushpool_@VERSION@
-- pushpool's atomic state changes. Each function is one step of the queue protocol (docs/reliability.md)
-- and safe to repeat. FCALL pushpool_<name>_@VERSION@ 1 <prefix> <arguments…>: the version is part of the
-- name, so old and new workers run side by side.
--
-- KEYS[1] is always the key prefix P. Every key is P:…, so with a hash tag as the prefix ({pushpool}) all of
-- them live in one cluster slot. ARGV and reply stand above each function.
-- Reads that can fail (a wrong type under a key) come before the first write: a script is not rolled back.
-- Times are the server's, in epoch milliseconds.

local DAY_S = 86400
local SEGMENT_S = 30 * DAY_S          -- orphan guard: also how long a job may stay paused
local RECORD_S = 7 * DAY_S            -- how long a finished job can be read (and its dead chunks retried)
local METRICS_S = 2 * DAY_S
local WORKER_S = 120                  -- a worker's HASH outlives this many seconds without a beat
local NOTICES_MAX = 100000            -- length of the bounded streams
local CRASHES_MAX = 5                 -- a chunk or job that lost this many workers is a dead letter
local RESIDUAL_BYTES_MAX = 32 * 1024 * 1024  -- of one job: beyond it no new chunk starts
local INSTALLATIONS_PER_USER_MAX = 100
local EXCERPT_BYTES = 4096            -- what a dead letter keeps of an oversize job
local TAKEN_BYTES_MAX = 4 * 1024 * 1024  -- job text in one reply: no further job is taken beyond it
local AUDIT_MAX = 20000               -- chunks in Redis beyond which an audit would hold everybody up
local PASSED_OVER_MAX = 64            -- chunks of cancelled or paused jobs that one claim clears away
local GROUP = 'workers'
local PRIORITIES = {'high', 'normal', 'low'}

-- Keys: the only place in this file where a key is spelt; Keys.swift is its twin and a test compares them.
local KEY = {
  jobs = function(p, priority) return p .. ':jobs:' .. priority end,
  chunks = function(p, priority) return p .. ':chunks:' .. priority end,
  job = function(p, app, id) return p .. ':job:' .. app .. ':' .. id end,
  content = function(p, app, id) return p .. ':content:' .. app .. ':' .. id end,
  parked = function(p, app, id) return p .. ':parked:' .. app .. ':' .. id end,
  segment = function(p, segment, source) return p .. ':segment:' .. segment .. ':' .. source end,
  done = function(p, segment, source) return p .. ':done:' .. segment .. ':' .. source end,
  user = function(p, app, user) return p .. ':user:' .. app .. ':' .. user end,
  token = function(p, network, app, token) return p .. ':token:' .. network .. ':' .. app .. ':' .. token end,
  generation = function(p) return p .. ':generation' end,
  open = function(p) return p .. ':open' end,
  delayed = function(p) return p .. ':delayed' end,
  dead = function(p) return p .. ':dead' end,
  uninstalled = function(p) return p .. ':uninstalled' end,
  audit = function(p) return p .. ':audit' end,
  finished = function(p) return p .. ':finished' end,
  metrics = function(p, minute) return p .. ':metrics:' .. minute end,
  reclaim = function(p, kind, priority) return p .. ':reclaim:' .. kind .. ':' .. priority end,
  credential = function(p, name) return p .. ':credential:' .. name end,
  workers = function(p) return p .. ':workers' end,
  worker = function(p, worker) return p .. ':worker:' .. worker end,
}

local function now_ms()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- Decimal text of a whole number (Lua's own conversion turns to exponents).
local function text(n) return string.format('%.0f', n) end

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

local function lines_in(segment)
  local _, n = string.gsub(segment, '\n', '')
  if #segment > 0 and string.byte(segment, -1) ~= 10 then n = n + 1 end
  return n
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

local function drop_entry(stream, entry)
  redis.call('XACK', stream, GROUP, entry)
  redis.call('XDEL', stream, entry)
end

local function fields_of(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

-- New entries for the consumer: {{entry, fields}…}.
local function read_new(stream, consumer, count)
  local reply = in_group(
    stream, 'XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', count, 'STREAMS', stream, '>')
  if not reply then return {} end
  return reply[1][2]
end

-- Entries of consumers that have been silent for a lease. The cursor is kept: from 0-0 each time, the scan
-- (10 x COUNT entries a call) would never get past a long list of live entries.
local function read_abandoned(stream, cursor_key, consumer, lease_ms, count)
  local cursor = redis.call('GET', cursor_key) or '0-0'
  local reply = in_group(
    stream, 'XAUTOCLAIM', stream, GROUP, consumer, lease_ms, cursor, 'COUNT', count)
  redis.call('SET', cursor_key, reply[1], 'EX', DAY_S)
  return reply[2]
end

local function dead_letter(p, now, ...)
  return redis.call('XADD', KEY.dead(p), '*', 'at', text(now), ...)
end

-- ---------------------------------------------------------------------------------------------------------
-- Chunks. A chunk is {priority, app, job, segment, source, lines, crashes}; lines says what a line of its
-- segment is: 'users' or 'installations'. A job's own segments are numbers; r<n> are residuals (installations), u<n>
-- retried dead letters that still are users.

local function chunk_of(priority, fields)
  return {
    priority = priority, app = fields.app, job = fields.job, segment = fields.segment,
    source = fields.source, lines = fields.lines, crashes = tonumber(fields.crashes or '0'),
  }
end

local function add_chunk(p, c)
  redis.call('XADD', KEY.chunks(p, c.priority), '*', 'app', c.app, 'job', c.job, 'segment', c.segment,
    'source', c.source, 'lines', c.lines, 'crashes', text(c.crashes))
end

local function pack(c)
  return cjson.encode({c.priority, c.app, c.job, c.segment, c.source, c.lines, c.crashes})
end

local function unpack_chunk(member)
  local v = cjson.decode(member)
  return {priority = v[1], app = v[2], job = v[3], segment = v[4], source = v[5], lines = v[6], crashes = v[7]}
end

local function is_residual(c) return string.find(c.segment, '^%d') == nil end

-- Starts the job's next segments while its window has room.
local function expand(p, app, job)
  local key = KEY.job(p, app, job)
  local r = redis.call('HMGET', key, 'state', 'cursor', 'segments', 'live', 'window', 'residual_bytes',
    'source', 'lines', 'priority', 'start_at')
  local scheduled = r[1] == 'scheduled'
  if r[1] ~= 'running' and not scheduled then return end
  local cursor, segments, live, window = tonumber(r[2]), tonumber(r[3]), tonumber(r[4]), tonumber(r[5])
  if tonumber(r[6]) >= RESIDUAL_BYTES_MAX then return end
  local added = 0
  while live + added < window and cursor < segments do
    cursor = cursor + 1
    added = added + 1
    local c = {priority = r[9], app = app, job = job, segment = text(cursor), source = r[7], lines = r[8],
      crashes = 0}
    if scheduled then redis.call('ZADD', KEY.delayed(p), r[10], pack(c)) else add_chunk(p, c) end
  end
  if added == 0 then return end
  redis.call('HSET', key, 'cursor', text(cursor))
  redis.call('HINCRBY', key, 'live', added)
  redis.call('HINCRBY', key, 'chunks', added)
end

-- Ends a job whose last chunk is gone. What is still pending then was never expanded (cancelled) or lost by
-- Redis (a deleted stream): the sum must hold, and `discrepancy` is the operator's alarm.
local function finish_if_empty(p, app, job, now)
  local key = KEY.job(p, app, job)
  local r = redis.call('HMGET', key, 'state', 'chunks', 'cursor', 'segments', 'pending', 'finished_at')
  if r[6] or tonumber(r[2]) > 0 or tonumber(r[3]) < tonumber(r[4]) then return end
  local pending = tonumber(r[5])
  local state = r[1] == 'cancelled' and 'cancelled' or 'done'
  if pending ~= 0 then
    redis.call('HINCRBY', key, state == 'cancelled' and 'skipped' or 'failed', pending)
    if state ~= 'cancelled' then redis.call('HINCRBY', key, 'discrepancy', pending) end
  end
  redis.call('HSET', key, 'state', state, 'pending', '0', 'finished_at', text(now))
  local names = {'total', 'accepted', 'rejected', 'uninstalled', 'expired', 'skipped', 'failed', 'pending',
    'no_installations', 'retries', 'created_at', 'started_at', 'finished_at'}
  local values = redis.call('HMGET', key, unpack(names))
  local notice = {'app', app, 'id', job, 'state', state}
  for i = 1, #names do
    notice[#notice + 1] = names[i]
    notice[#notice + 1] = values[i] or ''
  end
  redis.call('XADD', KEY.finished(p), 'MAXLEN', '~', NOTICES_MAX, '*', unpack(notice))
  redis.call('EXPIRE', key, RECORD_S)
  redis.call('EXPIRE', KEY.content(p, app, job), RECORD_S)
  redis.call('UNLINK', KEY.parked(p, app, job))
  redis.call('SREM', KEY.open(p), app .. ':' .. job)
end

-- Removes a finished chunk's keys and moves its job on.
local function close_chunk(p, c, now)
  local key = KEY.job(p, c.app, c.job)
  local segment = KEY.segment(p, c.segment, c.source)
  local residual = is_residual(c)
  local bytes = residual and redis.call('STRLEN', segment) or 0
  redis.call('UNLINK', segment, KEY.done(p, c.segment, c.source))
  -- A record that is gone, or that a later job of the same name owns, has nothing to count.
  if redis.call('HGET', key, 'source') ~= c.source then return end
  redis.call('HINCRBY', key, 'chunks', -1)
  if residual then
    redis.call('HINCRBY', key, 'residual_bytes', -bytes)
  else
    redis.call('HINCRBY', key, 'live', -1)
  end
  expand(p, c.app, c.job)
  finish_if_empty(p, c.app, c.job, now)
end

-- Recipients of a chunk that are not done yet; nil when its segment is gone.
local function remaining(p, c)
  local segment = redis.call('GET', KEY.segment(p, c.segment, c.source))
  if not segment then return nil end
  return lines_in(segment) - redis.call('BITCOUNT', KEY.done(p, c.segment, c.source)), segment
end

-- Counts a chunk's open recipients as `outcome` and closes it.
local function close_as(p, c, outcome, now)
  local n = remaining(p, c) or 0
  local key = KEY.job(p, c.app, c.job)
  if n > 0 and redis.call('HGET', key, 'source') == c.source then
    redis.call('HINCRBY', key, outcome, n)
    redis.call('HINCRBY', key, 'pending', -n)
  end
  close_chunk(p, c, now)
end

-- The job's state as a chunk sees it: 'gone' when the record is missing, ended, or of another admission.
local function state_for(p, c)
  local r = redis.call('HMGET', KEY.job(p, c.app, c.job), 'state', 'source')
  if r[2] ~= c.source or r[1] == 'done' or r[1] == 'queued' then return 'gone' end
  return r[1]
end

-- Puts a chunk that nobody holds where it belongs: its stream, the delayed set, its job's parked list, or
-- away with it. True when it went to a place where work waits.
local function route(p, c, now, due)
  local state = state_for(p, c)
  if state == 'gone' then
    redis.call('UNLINK', KEY.segment(p, c.segment, c.source), KEY.done(p, c.segment, c.source))
    return false
  elseif state == 'cancelled' then
    close_as(p, c, 'skipped', now)
    return false
  elseif state == 'paused' then
    redis.call('RPUSH', KEY.parked(p, c.app, c.job), pack(c))
    return false
  end
  if due > now then
    redis.call('ZADD', KEY.delayed(p), due, pack(c))
    return true
  end
  if state == 'scheduled' then
    redis.call('HSET', KEY.job(p, c.app, c.job), 'state', 'running', 'started_at', text(now))
  end
  add_chunk(p, c)
  return true
end

-- A chunk that lost too many workers, or whose segment or content is gone, becomes a dead letter.
local function bury_chunk(p, c, reason, message, now)
  local n, segment = remaining(p, c)
  local done = redis.call('GET', KEY.done(p, c.segment, c.source)) or ''
  dead_letter(p, now, 'kind', 'chunk', 'reason', reason, 'field', '', 'message', message, 'app', c.app,
    'id', c.job, 'priority', c.priority, 'source', c.source, 'lines', c.lines, 'segment', c.segment,
    'recipients', segment or '', 'done', done, 'count', text(n or 0))
  close_as(p, c, 'failed', now)
end

-- Turns a freshly owned entry into a claim, or clears it away when its job does not want it sent.
local function claim_entry(p, priority, stream, item, deliveries, now, claims)
  local entry, c = item[1], chunk_of(priority, fields_of(item[2]))
  if not (c.app and c.job and c.segment and c.source and c.lines) then
    dead_letter(p, now, 'kind', 'chunk', 'reason', 'malformed_chunk', 'field', '', 'message',
      'A chunk entry lacks a field; something else writes to ' .. stream, 'app', c.app or '', 'id', c.job or '',
      'priority', priority, 'count', '0')
    drop_entry(stream, entry)
    return
  end
  local state = state_for(p, c)
  if state ~= 'running' then
    drop_entry(stream, entry)
    route(p, c, now, 0)
    return
  end
  c.crashes = c.crashes + deliveries - 1
  local segment = redis.call('GET', KEY.segment(p, c.segment, c.source))
  if not segment then
    drop_entry(stream, entry)
    bury_chunk(p, c, 'segment_missing', 'The recipients of this chunk are no longer in Redis', now)
  elseif c.crashes >= CRASHES_MAX then
    drop_entry(stream, entry)
    bury_chunk(p, c, 'crashed_workers',
      'This chunk was lost by ' .. text(c.crashes) .. ' workers in a row', now)
  else
    local done = redis.call('GET', KEY.done(p, c.segment, c.source)) or ''
    claims[#claims + 1] = {priority, entry, c.app, c.job, c.segment, c.source, c.crashes, state, c.lines, done,
      segment}
  end
end

-- claim — ARGV: consumer, max. New chunks, high before normal before low.
-- Reply: {{priority, entry, app, job, segment, source, crashes, state, lines, done bitmap, recipients}…}
local function claim(keys, args)
  local p, consumer, max, now = keys[1], args[1], tonumber(args[2]), now_ms()
  local claims, seen = {}, 0
  for _, priority in ipairs(PRIORITIES) do
    local stream = KEY.chunks(p, priority)
    while #claims < max and seen < max + PASSED_OVER_MAX do
      local wanted = max - #claims
      local items = read_new(stream, consumer, wanted)
      for _, item in ipairs(items) do claim_entry(p, priority, stream, item, 1, now, claims) end
      seen = seen + #items
      if #items < wanted then break end
    end
  end
  return claims
end

-- reclaim — ARGV: consumer, lease ms, max. Chunks of workers that fell silent; reply as claim.
-- It can return the caller's own chunks when the caller itself was silent for a lease.
local function reclaim(keys, args)
  local p, consumer, lease_ms, max, now = keys[1], args[1], args[2], tonumber(args[3]), now_ms()
  local claims = {}
  for _, priority in ipairs(PRIORITIES) do
    if #claims < max then
      local stream = KEY.chunks(p, priority)
      local items = read_abandoned(
        stream, KEY.reclaim(p, 'chunks', priority), consumer, lease_ms, max - #claims)
      for _, item in ipairs(items) do
        claim_entry(p, priority, stream, item, owned(stream, item[1], consumer) or 1, now, claims)
      end
    end
  end
  return claims
end

-- heartbeat — ARGV: consumer, kind (jobs|chunks), then (priority, entry, app, job)… Resets the idle time.
-- Reply: one of OK | PAUSED | CANCELLED | STALE per entry; STALE: somebody else owns it, or nobody.
local function heartbeat(keys, args)
  local p, consumer, kind = keys[1], args[1], args[2]
  local answers = {}
  for i = 3, #args, 4 do
    local stream = KEY[kind](p, args[i])
    local answer = 'STALE'
    if owned(stream, args[i + 1], consumer) then
      redis.call('XCLAIM', stream, GROUP, consumer, 0, args[i + 1], 'JUSTID')
      local state = kind == 'chunks' and redis.call('HGET', KEY.job(p, args[i + 2], args[i + 3]), 'state')
      answer = (state == 'paused' and 'PAUSED') or (state == 'cancelled' and 'CANCELLED') or 'OK'
    end
    answers[#answers + 1] = answer
  end
  return answers
end

-- hand_back — ARGV: consumer, delay ms, then (priority, entry)… The chunks keep their progress and their
-- crash count and go to others, after the delay. Reply: how many were still the caller's.
local function hand_back(keys, args)
  local p, consumer, delay, now = keys[1], args[1], tonumber(args[2]), now_ms()
  refuse_wrong_type(KEY.delayed(p), 'zset')
  local returned = 0
  for i = 3, #args, 2 do
    local stream = KEY.chunks(p, args[i])
    local deliveries = owned(stream, args[i + 1], consumer)
    local items = deliveries and redis.call('XRANGE', stream, args[i + 1], args[i + 1]) or {}
    if #items == 1 then
      local c = chunk_of(args[i], fields_of(items[1][2]))
      c.crashes = c.crashes + deliveries - 1
      drop_entry(stream, args[i + 1])
      route(p, c, now, now + delay)
      returned = returned + 1
    end
  end
  return returned
end

-- bury — ARGV: consumer, priority, entry, reason code, message. A chunk that no worker could carry becomes a dead
-- letter, its open recipients failed; when its job has been cancelled or paused it goes where that says.
-- Reply: OK | STALE
local function bury(keys, args)
  local p, priority, entry, now = keys[1], args[2], args[3], now_ms()
  local stream = KEY.chunks(p, priority)
  local items = owned(stream, entry, args[1]) and redis.call('XRANGE', stream, entry, entry) or {}
  if #items == 0 then return 'STALE' end
  refuse_wrong_type(KEY.dead(p), 'stream')
  refuse_wrong_type(KEY.finished(p), 'stream')
  local c = chunk_of(priority, fields_of(items[1][2]))
  local state = state_for(p, c)
  drop_entry(stream, entry)
  if state == 'running' then bury_chunk(p, c, args[4], args[5], now) else route(p, c, now, 0) end
  return 'OK'
end

-- promote — ARGV: max. Moves due delayed chunks to their streams.
-- Reply: {taken from the set, ms until the next is due or -1}
local function promote(keys, args)
  local p, now = keys[1], now_ms()
  local delayed = KEY.delayed(p)
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', text(now), 'LIMIT', 0, args[1])
  for _, member in ipairs(due) do
    redis.call('ZREM', delayed, member)
    route(p, unpack_chunk(member), now, 0)
  end
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  if #first == 0 then return {#due, -1} end
  return {#due, math.max(0, tonumber(first[2]) - now)}
end

-- ---------------------------------------------------------------------------------------------------------
-- Installations. The user's STRING is what the lanes read; the token's HASH is the full record. A generation
-- is drawn from one counter, so a token removed and installed again never repeats one.

-- The user's lines without the one of this token, and how many are left.
local function without_line(lines, network, token)
  local kept, n = {}, 0
  for line in string.gmatch(lines, '[^\n]+') do
    local found, rest = string.match(line, '^([^\t]*)\t[^\t]*\t[^\t]*\t[^\t]*\t(.*)$')
    if not (found == network and rest == token) then
      n = n + 1
      kept[n] = line
    end
  end
  kept[n + 1] = ''
  return table.concat(kept, '\n'), n
end

local function unbind(key, lines)
  if lines == '' then redis.call('DEL', key) else redis.call('SET', key, lines) end
end

-- One installation from args[at…]: app, network, token, user, environment, object id to use when new,
-- created at or '', updated at or '', number of further fields, (name, value)… Returns status, object id,
-- previous user, index after the last argument. Strict refuses an existing token.
local function bind(p, args, at, now, strict)
  local app, network, token, user, environment = args[at], args[at + 1], args[at + 2], args[at + 3], args[at + 4]
  local extra = tonumber(args[at + 8])
  local after = at + 9 + extra * 2
  if user == '' then return 'no_user', '', '', after end
  local key = KEY.token(p, network, app, token)
  local old = redis.call('HMGET', key, 'user', 'object_id', 'created_at', 'updated_at')
  if strict and old[1] then return 'conflict', old[2], old[1], after end
  local moved = old[1] and old[1] ~= user
  local user_key = KEY.user(p, app, user)
  local lines, n = without_line(redis.call('GET', user_key) or '', network, token)
  if n >= INSTALLATIONS_PER_USER_MAX then return 'too_many', '', '', after end
  local old_key = moved and KEY.user(p, app, old[1])
  local old_lines = moved and without_line(redis.call('GET', old_key) or '', network, token)
  if moved then
    redis.call('XADD', KEY.audit(p), 'MAXLEN', '~', NOTICES_MAX, '*', 'cause', 'overwritten', 'app', app,
      'user', old[1], 'network', network, 'token', token, 'by', user)
    -- The former owner's badge, channels and custom fields are not the new owner's.
    redis.call('DEL', key)
    unbind(old_key, old_lines)
  end
  local created = old[3] or (args[at + 6] ~= '' and args[at + 6]) or text(now)
  local updated = args[at + 7] ~= '' and math.min(tonumber(args[at + 7]), now) or now
  if old[4] and not moved then updated = math.max(updated, tonumber(old[4])) end
  local generation = text(redis.call('INCR', KEY.generation(p)))
  local object_id = old[2] or args[at + 5]
  redis.call('HSET', key, 'user', user, 'environment', environment, 'generation', generation, 'object_id',
    object_id, 'created_at', created, 'updated_at', text(updated), unpack(args, at + 9, after - 1))
  redis.call('SET', user_key,
    lines .. table.concat({network, environment, generation, text(updated), token}, '\t') .. '\n')
  return (moved and 'moved') or (old[1] and 'updated') or 'created', object_id, old[1] or '', after
end

local function refusal(status)
  if status == 'no_user' then
    return redis.error_reply('INVALID user: an installation needs a user')
  end
  return redis.error_reply('INVALID user: it has ' .. INSTALLATIONS_PER_USER_MAX ..
    ' installations already; uninstall some first')
end

-- install — ARGV: one installation (see bind). The last installer wins.
-- Reply: {created|updated|moved, object id, previous user or ''}
local function install(keys, args)
  local status, object_id, previous = bind(keys[1], args, 1, now_ms(), false)
  if status == 'no_user' or status == 'too_many' then return refusal(status) end
  return {status, object_id, previous}
end

-- create — ARGV: as install. Strict: an existing token is not touched.
-- Reply: {created|conflict, object id, owner when conflict or ''}
local function create(keys, args)
  local status, object_id, previous = bind(keys[1], args, 1, now_ms(), true)
  if status == 'no_user' or status == 'too_many' then return refusal(status) end
  return {status, object_id, previous}
end

-- install_many — ARGV: n, then n installations. Reply: {created, updated, moved, refused index (from 0)…}
local function install_many(keys, args)
  local now, at = now_ms(), 2
  local n = {created = 0, updated = 0, moved = 0}
  local refused = {}
  for i = 1, tonumber(args[1]) do
    local status, _, _, after = bind(keys[1], args, at, now, false)
    if n[status] then n[status] = n[status] + 1 else refused[#refused + 1] = i - 1 end
    at = after
  end
  return {n.created, n.updated, n.moved, unpack(refused)}
end

-- uninstall — ARGV: app, network, token, owner or '' (anyone). Reply: removed | absent | other_owner
local function uninstall(keys, args)
  local p, app, network, token, owner = keys[1], args[1], args[2], args[3], args[4]
  local key = KEY.token(p, network, app, token)
  local user = redis.call('HGET', key, 'user')
  if not user then return 'absent' end
  if owner ~= '' and owner ~= user then return 'other_owner' end
  local user_key = KEY.user(p, app, user)
  local lines = without_line(redis.call('GET', user_key) or '', network, token)
  redis.call('XADD', KEY.audit(p), 'MAXLEN', '~', NOTICES_MAX, '*', 'cause', 'explicit', 'app', app,
    'user', user, 'network', network, 'token', token, 'by', owner)
  redis.call('DEL', key)
  unbind(user_key, lines)
  return 'removed'
end

-- Removes a binding on the provider's word, if it is still the one that was tried: same user, same
-- generation, and installed no later than the provider's time of death (where it gives one).
-- Never raises, because settle has begun to write: what cannot be checked is kept.
local function remove_invalid(p, app, network, token, user, generation, since, reason, job)
  local key = KEY.token(p, network, app, token)
  local r = redis.pcall('HMGET', key, 'user', 'generation', 'updated_at')
  if r.err then return 'stale' end
  if not r[1] then return 'absent' end
  if r[1] ~= user or r[2] ~= generation then return 'stale' end
  if since ~= '' and tonumber(since) < tonumber(r[3]) then return 'stale' end
  local user_key = KEY.user(p, app, user)
  local lines = redis.pcall('GET', user_key)
  if type(lines) == 'table' then return 'stale' end
  local noted = redis.pcall('XADD', KEY.uninstalled(p), 'MAXLEN', '~', NOTICES_MAX, '*', 'app', app, 'user', user,
    'network', network, 'token', token, 'reason', reason, 'provider_time', since, 'job', job)
  if type(noted) == 'table' and noted.err then return 'stale' end
  redis.call('DEL', key)
  unbind(user_key, (without_line(lines or '', network, token)))
  return 'removed'
end

-- invalidate — ARGV: app, network, token, user, generation, provider's time (ms) or '', reason, job.
-- Reply: removed | stale | absent
local function invalidate(keys, args)
  return remove_invalid(keys[1], unpack(args, 1, 8))
end

-- ---------------------------------------------------------------------------------------------------------
-- Settling a chunk
--
-- Accounting: total = accepted + rejected + uninstalled + expired + skipped + failed + pending, always. A user
-- not yet resolved stands in total and in pending as one. The caller says by how much total changes (a user
-- with n installations: n - 1; without any: -1; an installation line: 0) and which outcomes were reached; the
-- change of pending follows from the two, so the sum cannot break. What goes into a residual has no outcome yet
-- and so stays pending until the residual is settled.

local function count_outcomes(p, app, job, counts, now)
  local key = KEY.job(p, app, job)
  local metrics = KEY.metrics(p, minute_of(now))
  local sum = 0
  for i = 1, #counts, 3 do
    local n = tonumber(counts[i + 2])
    if n > 0 then
      redis.call('HINCRBY', key, counts[i + 1], n)
      -- Dashboards must not be able to stop the work.
      redis.pcall('HINCRBY', metrics, app .. '|' .. counts[i] .. '|' .. counts[i + 1], n)
      sum = sum + n
    end
  end
  if sum > 0 then redis.pcall('EXPIRE', metrics, METRICS_S) end
  return sum
end

local function add_residual(p, c, delay, lines, now)
  local key = KEY.job(p, c.app, c.job)
  local segment = 'r' .. text(redis.call('HINCRBY', key, 'residuals', 1))
  redis.call('SET', KEY.segment(p, segment, c.source), lines, 'EX', SEGMENT_S)
  redis.call('HINCRBY', key, 'chunks', 1)
  redis.call('HINCRBY', key, 'residual_bytes', #lines)
  route(p, {priority = c.priority, app = c.app, job = c.job, segment = segment, source = c.source,
    lines = 'installations', crashes = 0}, now, now + tonumber(delay))
end

-- settle — ARGV: consumer, priority, entry, app, job, segment, source, lines, final 0|1, done bitmap, change of
-- total, users without installation, retries, n, n x (network, outcome, count), m, m x (delay ms, residual
-- lines), then (network, token, user, generation, provider's time or '', reason)… for invalid tokens.
-- Everything in it is news since the last settle of this chunk, and news means new bits in the bitmap: a settle
-- that brings none is a repetition after a lost reply, and is not counted again. An invalid token that is removed counts as
-- uninstalled, one whose binding has changed as rejected.
-- Reply: {OK|PAUSED|CANCELLED|STALE, removed, kept}; STALE: nothing was counted, stop the chunk.
local function settle(keys, args)
  local p, now = keys[1], now_ms()
  local consumer, entry = args[1], args[3]
  local c = {priority = args[2], app = args[4], job = args[5], segment = args[6], source = args[7],
    lines = args[8], crashes = 0}
  local stream = KEY.chunks(p, c.priority)
  if not owned(stream, entry, consumer) then return {'STALE', 0, 0} end
  local state = state_for(p, c)
  if state == 'gone' then
    drop_entry(stream, entry)
    close_chunk(p, c, now)
    return {'CANCELLED', 0, 0}
  end
  local answer = (state == 'paused' and 'PAUSED') or (state == 'cancelled' and 'CANCELLED') or 'OK'
  local final = args[9] == '1'
  if not final and (redis.call('GET', KEY.done(p, c.segment, c.source)) or '') == args[10] then
    redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
    return {answer, 0, 0}
  end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  refuse_wrong_type(KEY.finished(p), 'stream')
  local key = KEY.job(p, c.app, c.job)
  local at = 15 + tonumber(args[14]) * 3
  local counts = {unpack(args, 15, at - 1)}
  local residuals = tonumber(args[at])
  local invalid = at + 1 + residuals * 2
  local removed, kept = 0, 0
  for i = invalid, #args, 6 do
    local verdict = remove_invalid(p, c.app, args[i], args[i + 1], args[i + 2], args[i + 3], args[i + 4],
      args[i + 5], c.job)
    local gone = verdict == 'removed'
    if gone then removed = removed + 1 else kept = kept + 1 end
    local n = #counts
    counts[n + 1], counts[n + 2], counts[n + 3] = args[i], gone and 'uninstalled' or 'rejected', 1
  end
  local sum = count_outcomes(p, c.app, c.job, counts, now)
  redis.call('HINCRBY', key, 'total', args[11])
  redis.call('HINCRBY', key, 'pending', tonumber(args[11]) - sum)
  if args[12] ~= '0' then redis.call('HINCRBY', key, 'no_installations', args[12]) end
  if args[13] ~= '0' then redis.call('HINCRBY', key, 'retries', args[13]) end
  for i = at + 1, invalid - 1, 2 do add_residual(p, c, args[i], args[i + 1], now) end
  if final then
    drop_entry(stream, entry)
    close_chunk(p, c, now)
  else
    redis.call('SET', KEY.done(p, c.segment, c.source), args[10], 'EX', SEGMENT_S)
    redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
  end
  return {answer, removed, kept}
end

-- ---------------------------------------------------------------------------------------------------------
-- Jobs

-- A job entry as {priority, entry, job text, deliveries}; dead-lettered here when it cannot even be read.
local function take_entry(p, priority, stream, item, deliveries, bytes_max, now, jobs)
  local job = fields_of(item[2]).job
  local reason, message
  if not job then
    reason, message = 'malformed_entry', 'The entry has no field "job"; enqueue with XADD ' .. stream ..
      ' * job <JSON>'
  elseif #job > bytes_max then
    reason, message = 'too_large', 'The job has ' .. #job .. ' bytes and the limit is ' .. text(bytes_max) ..
      '; use users_key for a large audience'
  elseif deliveries > CRASHES_MAX then
    reason, message = 'crashed_workers', 'This job was lost by ' .. text(deliveries - 1) .. ' workers in a row'
  end
  if not reason then
    jobs[#jobs + 1] = {priority, item[1], job, deliveries}
    return
  end
  local original = job or cjson.encode(item[2])
  local truncated = #original > bytes_max
  dead_letter(p, now, 'kind', 'job', 'reason', reason, 'field', '', 'message', message, 'app', '', 'id', '',
    'priority', priority, 'job', truncated and string.sub(original, 1, EXCERPT_BYTES) or original,
    'truncated', truncated and '1' or '0')
  drop_entry(stream, item[1])
end

-- take_jobs — ARGV: consumer, max, largest job in bytes, lease ms or '' (no reclaim this time).
-- Reply: {{priority, entry, job text, deliveries}…}, of each priority the abandoned one first
local function take_jobs(keys, args)
  local p, consumer, max, bytes_max, now = keys[1], args[1], tonumber(args[2]), tonumber(args[3]), now_ms()
  local jobs, bytes = {}, 0
  local function take(priority, stream, item, deliveries)
    take_entry(p, priority, stream, item, deliveries, bytes_max, now, jobs)
    bytes = bytes + #(item[2][2] or '')
  end
  for _, priority in ipairs(PRIORITIES) do
    local stream = KEY.jobs(p, priority)
    if args[4] ~= '' and #jobs < max then
      local items = read_abandoned(stream, KEY.reclaim(p, 'jobs', priority), consumer, args[4], 1)
      for _, item in ipairs(items) do
        take(priority, stream, item, owned(stream, item[1], consumer) or 1)
      end
    end
    while #jobs < max and bytes < TAKEN_BYTES_MAX do
      local item = read_new(stream, consumer, 1)[1]
      if not item then break end
      take(priority, stream, item, 1)
    end
  end
  return jobs
end

-- When a job was enqueued: the milliseconds of its entry id, unless the producer chose an id that is no time.
local function enqueued_at(entry, now)
  local ms = tonumber(string.match(entry, '^(%d+)-'))
  if ms and ms <= now and ms > now - SEGMENT_S * 1000 then return ms end
  return now
end

-- Unique among admissions: entry ids of two streams can be equal, the priority's initial tells them apart.
local function source_of(priority, entry) return string.sub(priority, 1, 1) .. entry end

-- NEW, DUPLICATE or CONFLICT of a job against the record of that name.
local function standing(record, digest, source)
  if not record[1] then return 'NEW' end
  -- The same source: a worker died between reserving and admitting, this is the same job again.
  if record[2] == source then return record[4] == '1' and 'DUPLICATE' or 'NEW' end
  return record[3] == digest and 'DUPLICATE' or 'CONFLICT'
end

-- reserve — ARGV: consumer, priority, entry, app, id, digest. Takes the name before segments are uploaded.
-- Reply: NEW | DUPLICATE (the entry is dropped) | CONFLICT (refuse it) | STALE
local function reserve(keys, args)
  local p, priority, entry, app, id, digest = keys[1], unpack(args, 2, 6)
  local stream, key = KEY.jobs(p, priority), KEY.job(p, app, id)
  if not owned(stream, entry, args[1]) then return 'STALE' end
  local source = source_of(priority, entry)
  local record = redis.call('HMGET', key, 'state', 'source', 'digest', 'admitted')
  local answer = standing(record, digest, source)
  if answer == 'DUPLICATE' then
    drop_entry(stream, entry)
  elseif answer == 'NEW' and not record[1] then
    redis.call('HSET', key, 'state', 'queued', 'source', source, 'digest', digest, 'priority', priority,
      'created_at', text(enqueued_at(entry, now_ms())))
    redis.call('EXPIRE', key, SEGMENT_S)
  end
  return answer
end

local function drop_unstarted(p, source, first, last)
  for n = first, last do redis.call('UNLINK', KEY.segment(p, text(n), source)) end
end

-- admit — ARGV: consumer, priority, entry, app, id, digest, content, segments, recipients, lines
-- (users|installations), window (chunks started at a time), start at (ms) or '', text of segment 1 or '' when
-- all are uploaded. Needs no reserve when the job has one segment.
-- Reply: OK | DUPLICATE (the entry is dropped) | CONFLICT (refuse it) | STALE
local function admit(keys, args)
  local p, now = keys[1], now_ms()
  local priority, entry, app, id, digest = unpack(args, 2, 6)
  local stream, key = KEY.jobs(p, priority), KEY.job(p, app, id)
  if not owned(stream, entry, args[1]) then return 'STALE' end
  local source = source_of(priority, entry)
  local record = redis.call('HMGET', key, 'state', 'source', 'digest', 'admitted', 'created_at')
  local answer = standing(record, digest, source)
  if answer == 'DUPLICATE' then drop_entry(stream, entry) end
  if answer ~= 'NEW' then return answer end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  refuse_wrong_type(KEY.finished(p), 'stream')
  refuse_wrong_type(KEY.chunks(p, priority), 'stream')
  refuse_wrong_type(KEY.open(p), 'set')
  local segments, recipients = tonumber(args[8]), tonumber(args[9])
  if recipients == 0 then segments = 0 end
  local later = args[12] ~= '' and tonumber(args[12]) > now
  local state = later and 'scheduled' or 'running'
  -- Paused or cancelled between reserving and now.
  if record[1] == 'paused' or record[1] == 'cancelled' then state = record[1] end
  redis.call('HSET', key, 'state', state, 'source', source, 'digest', digest, 'admitted', '1', 'priority',
    priority, 'created_at', record[5] or text(enqueued_at(entry, now)), 'total', recipients, 'pending', recipients, 'accepted', 0,
    'rejected', 0, 'uninstalled', 0, 'expired', 0, 'skipped', 0, 'failed', 0, 'no_installations', 0, 'retries', 0,
    'segments', segments, 'cursor', 0, 'chunks', 0, 'live', 0, 'residuals', 0, 'residual_bytes', 0, 'window',
    args[11], 'lines', args[10], 'start_at', later and args[12] or '0')
  if not later then redis.call('HSET', key, 'started_at', text(now)) end
  redis.call('PERSIST', key)
  redis.call('SET', KEY.content(p, app, id), args[7])
  if args[13] ~= '' then redis.call('SET', KEY.segment(p, '1', source), args[13], 'EX', SEGMENT_S) end
  if state == 'cancelled' then
    drop_unstarted(p, source, 1, segments)
    redis.call('HSET', key, 'cursor', segments)
  end
  redis.call('SADD', KEY.open(p), app .. ':' .. id)
  expand(p, app, id)
  drop_entry(stream, entry)
  finish_if_empty(p, app, id, now)
  return 'OK'
end

-- refuse — ARGV: consumer, priority, entry, reason code, field (JSON pointer) or '', message, app or '', id or ''.
-- The job becomes a dead letter; a name it had reserved is free again. Reply: OK | STALE
local function refuse(keys, args)
  local p, priority, entry, app, id = keys[1], args[2], args[3], args[7], args[8]
  local stream = KEY.jobs(p, priority)
  if not owned(stream, entry, args[1]) then return 'STALE' end
  local items = redis.call('XRANGE', stream, entry, entry)
  local job = #items == 1 and fields_of(items[1][2]).job or ''
  local key = KEY.job(p, app, id)
  local record = redis.call('HMGET', key, 'source', 'admitted')
  dead_letter(p, now_ms(), 'kind', 'job', 'reason', args[4], 'field', args[5], 'message', args[6], 'app', app,
    'id', id, 'priority', priority, 'job', job, 'truncated', '0')
  if record[1] == source_of(priority, entry) and not record[2] then redis.call('DEL', key) end
  drop_entry(stream, entry)
  return 'OK'
end

-- cancel — ARGV: app, id. Reply: the state now (cancelled; done when it was too late) or ABSENT
local function cancel(keys, args)
  local p, app, id, now = keys[1], args[1], args[2], now_ms()
  local key = KEY.job(p, app, id)
  local r = redis.call('HMGET', key, 'state', 'admitted', 'cursor', 'segments', 'source', 'priority', 'lines', 'live')
  if not r[1] then return 'ABSENT' end
  if r[1] == 'done' or r[1] == 'cancelled' then return r[1] end
  refuse_wrong_type(KEY.finished(p), 'stream')
  refuse_wrong_type(KEY.delayed(p), 'zset')
  redis.call('HSET', key, 'state', 'cancelled')
  if not r[2] then return 'cancelled' end
  drop_unstarted(p, r[5], tonumber(r[3]) + 1, tonumber(r[4]))
  redis.call('HSET', key, 'cursor', r[4])
  local parked = redis.call('LRANGE', KEY.parked(p, app, id), 0, -1)
  redis.call('DEL', KEY.parked(p, app, id))
  for _, member in ipairs(parked) do close_as(p, unpack_chunk(member), 'skipped', now) end
  -- Chunks that wait for their start time would hold the record open until then.
  local source = r[5]
  for n = math.max(1, tonumber(r[3]) - tonumber(r[8]) + 1), tonumber(r[3]) do
    local c = {priority = r[6], app = app, job = id, segment = text(n), source = source, lines = r[7], crashes = 0}
    if redis.call('ZREM', KEY.delayed(p), pack(c)) == 1 then close_as(p, c, 'skipped', now) end
  end
  finish_if_empty(p, app, id, now)
  return 'cancelled'
end

-- pause — ARGV: app, id. Reply: the state now (paused; done or cancelled when it was too late) or ABSENT
local function pause(keys, args)
  local key = KEY.job(keys[1], args[1], args[2])
  local state = redis.call('HGET', key, 'state')
  if not state then return 'ABSENT' end
  if state == 'done' or state == 'cancelled' then return state end
  redis.call('HSET', key, 'state', 'paused')
  return 'paused'
end

-- resume — ARGV: app, id. Parked chunks go through the delayed set, whose promotion is capped.
-- Reply: the state now or ABSENT
local function resume(keys, args)
  local p, app, id, now = keys[1], args[1], args[2], now_ms()
  local key, parked_key = KEY.job(p, app, id), KEY.parked(p, app, id)
  local r = redis.call('HMGET', key, 'state', 'admitted', 'start_at')
  if not r[1] then return 'ABSENT' end
  if r[1] ~= 'paused' then return r[1] end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  if not r[2] then
    redis.call('HSET', key, 'state', 'queued')
    return 'queued'
  end
  local state = tonumber(r[3]) > now and 'scheduled' or 'running'
  redis.call('HSET', key, 'state', state)
  for _, member in ipairs(redis.call('LRANGE', parked_key, 0, -1)) do
    redis.call('ZADD', KEY.delayed(p), text(now), member)
  end
  redis.call('DEL', parked_key)
  expand(p, app, id)
  return state
end

-- The segments of a job that some stream, the delayed set or its parked list knows of; nil when there is too much
-- to look through.
local function known_segments(p, app, id, source)
  local n = redis.call('ZCARD', KEY.delayed(p)) + redis.call('LLEN', KEY.parked(p, app, id))
  for _, priority in ipairs(PRIORITIES) do n = n + redis.call('XLEN', KEY.chunks(p, priority)) end
  if n > AUDIT_MAX then return nil end
  local known, count = {}, 0
  local function note(c)
    if c.app == app and c.job == id and c.source == source and not known[c.segment] then
      known[c.segment] = true
      count = count + 1
    end
  end
  for _, priority in ipairs(PRIORITIES) do
    for _, item in ipairs(redis.call('XRANGE', KEY.chunks(p, priority), '-', '+')) do
      note(chunk_of(priority, fields_of(item[2])))
    end
  end
  for _, member in ipairs(redis.call('ZRANGE', KEY.delayed(p), 0, -1)) do note(unpack_chunk(member)) end
  for _, member in ipairs(redis.call('LRANGE', KEY.parked(p, app, id), 0, -1)) do note(unpack_chunk(member)) end
  return known, count
end

-- audit — ARGV: app, id. Compares an open job with what exists, and repairs: a chunk is unfinished as long as its
-- segment exists, so a segment that nothing knows of (a deleted stream) is queued again, with its progress.
-- Reply: OK | BUSY (too much in Redis to look through) | ABSENT (no such open job) | REPAIRED (an alarm)
local function audit(keys, args)
  local p, app, id, now = keys[1], args[1], args[2], now_ms()
  local key = KEY.job(p, app, id)
  local r = redis.call('HMGET', key, 'source', 'priority', 'lines', 'cursor', 'residuals', 'chunks', 'admitted',
    'finished_at')
  if not r[7] or r[8] then
    redis.call('SREM', KEY.open(p), app .. ':' .. id)
    return 'ABSENT'
  end
  local known, count = known_segments(p, app, id, r[1])
  if not known then return 'BUSY' end
  if count == tonumber(r[6]) then return 'OK' end
  local chunks, live, bytes, lost = 0, 0, 0, {}
  local function look(segment, lines)
    local size = redis.call('STRLEN', KEY.segment(p, segment, r[1]))
    if size == 0 and not known[segment] then return end
    local c = {priority = r[2], app = app, job = id, segment = segment, source = r[1], lines = lines, crashes = 0}
    chunks = chunks + 1
    if is_residual(c) then bytes = bytes + size else live = live + 1 end
    if not known[segment] then lost[#lost + 1] = c end
  end
  for n = 1, tonumber(r[4]) do look(text(n), r[3]) end
  for n = 1, tonumber(r[5]) do
    look('r' .. text(n), 'installations')
    look('u' .. text(n), 'users')
  end
  redis.call('HSET', key, 'chunks', chunks, 'live', live, 'residual_bytes', bytes)
  for _, c in ipairs(lost) do route(p, c, now, 0) end
  expand(p, app, id)
  finish_if_empty(p, app, id, now)
  return 'REPAIRED'
end

-- ---------------------------------------------------------------------------------------------------------
-- Dead letters

local function retry_chunk(p, f)
  local key = KEY.job(p, f.app, f.id)
  local r = redis.call('HMGET', key, 'source', 'state')
  if f.recipients == '' or not f.source or r[1] ~= f.source then return 'GONE' end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  local n = tonumber(f.count)
  local kind = f.lines == 'users' and 'u' or 'r'
  local segment = kind .. text(redis.call('HINCRBY', key, 'residuals', 1))
  redis.call('SET', KEY.segment(p, segment, f.source), f.recipients, 'EX', SEGMENT_S)
  if f.done ~= '' then redis.call('SET', KEY.done(p, segment, f.source), f.done, 'EX', SEGMENT_S) end
  redis.call('HINCRBY', key, 'failed', -n)
  redis.call('HINCRBY', key, 'pending', n)
  redis.call('HINCRBY', key, 'chunks', 1)
  redis.call('HINCRBY', key, 'residual_bytes', #f.recipients)
  redis.call('SADD', KEY.open(p), f.app .. ':' .. f.id)
  if r[2] == 'done' or r[2] == 'cancelled' then
    redis.call('HSET', key, 'state', 'running')
    redis.call('HDEL', key, 'finished_at')
    redis.call('PERSIST', key)
    redis.call('PERSIST', KEY.content(p, f.app, f.id))
  end
  route(p, {priority = f.priority, app = f.app, job = f.id, segment = segment, source = f.source,
    lines = f.lines, crashes = 0}, now_ms(), 0)
  return 'RETRIED'
end

-- dead_list — ARGV: entry to start behind or '-', max. What is large (job, recipients, done) is left out.
-- Reply: {{entry, {name, value…}}…}
local function dead_list(keys, args)
  local first = args[1] == '-' and '-' or '(' .. args[1]
  local list = redis.call('XRANGE', KEY.dead(keys[1]), first, '+', 'COUNT', args[2])
  for _, item in ipairs(list) do
    local kept = {}
    for i = 1, #item[2], 2 do
      local name = item[2][i]
      if name ~= 'job' and name ~= 'recipients' and name ~= 'done' then
        kept[#kept + 1], kept[#kept + 2] = name, item[2][i + 1]
      end
    end
    item[2] = kept
  end
  return list
end

-- dead_retry — ARGV: entry. Queues the job again as new, or the chunk's open recipients within its job.
-- Reply: RETRIED | ABSENT (retried or dropped before) | GONE (its job or original is not kept any more)
local function dead_retry(keys, args)
  local p, entry = keys[1], args[1]
  local items = redis.call('XRANGE', KEY.dead(p), entry, entry)
  if #items == 0 then return 'ABSENT' end
  local f = fields_of(items[1][2])
  local answer
  if f.kind == 'chunk' then
    answer = retry_chunk(p, f)
  elseif f.truncated == '1' or f.reason == 'malformed_entry' then
    answer = 'GONE'
  else
    redis.call('XADD', KEY.jobs(p, f.priority), '*', 'job', f.job)
    answer = 'RETRIED'
  end
  if answer == 'RETRIED' then redis.call('XDEL', KEY.dead(p), entry) end
  return answer
end

-- dead_drop — ARGV: entry. Reply: 1, or 0 when it was not there
local function dead_drop(keys, args)
  return redis.call('XDEL', KEY.dead(keys[1]), args[1])
end

-- ---------------------------------------------------------------------------------------------------------
-- Workers

-- beat — ARGV: worker, (field, value)… Reply: server time in ms
local function beat(keys, args)
  local p, now = keys[1], now_ms()
  local key = KEY.worker(p, args[1])
  redis.call('ZADD', KEY.workers(p), text(now), args[1])
  if #args > 1 then redis.call('HSET', key, unpack(args, 2)) end
  redis.call('EXPIRE', key, WORKER_S)
  redis.call('ZREMRANGEBYSCORE', KEY.workers(p), '-inf', text(now - DAY_S * 1000))
  return now
end

-- agree — ARGV: name, proposal, refused credential or '', life ms. What the fleet uses: what it has, unless that is
-- the refused one; else the proposal from now on. Reply: the credential
local function agree(keys, args)
  local key = KEY.credential(keys[1], args[1])
  local current = redis.call('GET', key)
  if current and current ~= args[3] then return current end
  redis.call('SET', key, args[2], 'PX', args[4])
  return args[2]
end

-- forget — ARGV: worker. Reply: 1, or 0 when it was not there
local function forget(keys, args)
  redis.call('DEL', KEY.worker(keys[1], args[1]))
  return redis.call('ZREM', KEY.workers(keys[1]), args[1])
end

-- sweep_consumers — ARGV: consumer or '', idle ms. Deletes that consumer, or without a name every consumer idle
-- for so long; never one that has entries pending (deleting it would lose them). Reply: how many
local function sweep_consumers(keys, args)
  local p, name, idle_ms = keys[1], args[1], tonumber(args[2])
  local deleted = 0
  for _, kind in ipairs({'jobs', 'chunks'}) do
    for _, priority in ipairs(PRIORITIES) do
      local stream = KEY[kind](p, priority)
      local consumers = redis.pcall('XINFO', 'CONSUMERS', stream, GROUP)
      for _, flat in ipairs(consumers.err and {} or consumers) do
        local c = fields_of(flat)
        local wanted = (name ~= '' and c.name == name) or (name == '' and c.idle >= idle_ms)
        if wanted and c.pending == 0 then
          redis.call('XGROUP', 'DELCONSUMER', stream, GROUP, c.name)
          deleted = deleted + 1
        end
      end
    end
  end
  return deleted
end

-- tips — no ARGV. Reply: the last entry id of jobs high, normal, low and chunks high, normal, low ('0-0' when
-- there is no stream), for XREAD to wait behind
local function tips(keys)
  local ids = {}
  for _, kind in ipairs({'jobs', 'chunks'}) do
    for _, priority in ipairs(PRIORITIES) do
      local info = redis.pcall('XINFO', 'STREAM', KEY[kind](keys[1], priority))
      ids[#ids + 1] = info.err and '0-0' or fields_of(info)['last-generated-id']
    end
  end
  return ids
end

-- keys — no ARGV. Reply: (name, key)… with every argument spelt <1>, <2>…; for the test beside Keys.swift
local function key_table(keys)
  local names, reply = {}, {}
  for name in pairs(KEY) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local ok, key
    -- As many arguments as the key takes: with fewer the concatenation fails.
    for n = 0, 3 do
      ok, key = pcall(KEY[name], keys[1], unpack({'<1>', '<2>', '<3>'}, 1, n))
      if ok then break end
    end
    reply[#reply + 1] = name
    reply[#reply + 1] = key
  end
  return reply
end

-- allow-oom: what finishes, frees or guards work goes on when Redis is full; what brings new work does not.
local function register(name, callback, flags)
  redis.register_function{
    function_name = 'pushpool_' .. name .. '_@VERSION@', callback = callback, flags = flags or {}}
end

register('claim', claim, {'allow-oom'})
register('reclaim', reclaim, {'allow-oom'})
register('heartbeat', heartbeat, {'allow-oom'})
register('hand_back', hand_back, {'allow-oom'})
register('bury', bury, {'allow-oom'})
register('promote', promote, {'allow-oom'})
register('settle', settle, {'allow-oom'})
register('install', install)
register('create', create)
register('install_many', install_many)
register('uninstall', uninstall, {'allow-oom'})
register('invalidate', invalidate, {'allow-oom'})
register('take_jobs', take_jobs)
register('reserve', reserve)
register('admit', admit)
register('refuse', refuse, {'allow-oom'})
register('cancel', cancel, {'allow-oom'})
register('pause', pause, {'allow-oom'})
register('resume', resume, {'allow-oom'})
register('audit', audit, {'allow-oom'})
register('dead_list', dead_list, {'no-writes'})
register('dead_retry', dead_retry)
register('dead_drop', dead_drop, {'allow-oom'})
register('agree', agree, {'allow-oom'})
register('beat', beat, {'allow-oom'})
register('forget', forget, {'allow-oom'})
register('sweep_consumers', sweep_consumers, {'allow-oom'})
register('tips', tips, {'no-writes'})
register('keys', key_table, {'no-writes'})
