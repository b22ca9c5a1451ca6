-- Jobs: how they are admitted, and what operators do to them.

do

-- upload — ARGV: consumer, priority, entry, number, text. Keeps one segment of a job that is to be admitted. Only who
-- holds the entry may: what is uploaded after the job's end nobody would remove. Reply: OK | STALE
local function upload(keys, args)
  local p, priority, entry = keys[1], args[2], args[3]
  if not Fairness.owned_job(p, priority, entry, args[1]) then return 'STALE' end
  redis.call('SET', KEY.segment(p, args[4], source_of(priority, entry)), args[5], 'EX', LIMIT.SEGMENT_S)
  return 'OK'
end

local function drop_unstarted(p, source, first, last, round)
  for from = first, last, LIMIT.WORDS_MAX do
    local keys = {}
    for n = from, math.min(from + LIMIT.WORDS_MAX - 1, last) do
      keys[#keys + 1] = KEY.segment(p, Rounds.name(text(n), round), source)
    end
    redis.call('UNLINK', unpack(keys))
  end
end

-- Drops what a job has not started: it never will.
local function forget_audience(p, key, source)
  local r = redis.call('HMGET', key, 'cursor', 'segments', 'round', 'base')
  drop_unstarted(p, source, tonumber(r[1]) + 1, tonumber(r[2]), r[3])
  if r[4] then Rounds.drop_kept(p, source, tonumber(r[4])) end
  redis.call('HSET', key, 'cursor', r[2])
  Reading.drop(p, key, source)
end

-- Has a job keep to a pace.
local function keep_pace(key, per_second, spread, recipients, window)
  if per_second ~= '' then
    redis.call('HSET', key, 'pushes_per_second', per_second)
  else
    redis.call('HSET', key, 'spread_over_seconds', spread)
    per_second = recipients / tonumber(spread)
  end
  redis.call('HSET', key, 'window', text(Rates.window_of(tonumber(per_second), window)))
end

local ADMIT = Sections.layout('admit', {entry = 3, job = 4, audience = 6, texts = 1, index = 3, variables = 1, event = 2,
  ending = 3, pace = 2, rounds = 1, lives = 1, begun = 1}, {'entry', 'job', 'audience'})

-- admit — makes a job of its entry, and starts it. ARGV: sections of these columns and one row, or of as many rows as there are
-- texts; the last nine may be left out.
--   entry: the job as it was taken
--     consumer, priority, entry
--   job: what its record is found and told by
--     app, id
--     digest: of the canonical job
--     content: canonical JSON, without the audience
--   audience: whom it is for
--     lines: users|installations, what a line of a segment is
--     recipients: of all segments; not looked at with a users_key or an index
--     segments: how many there are, from 1 on
--     window: chunks started at a time
--     start_at: ms, or ''
--     users_key: key that holds the users, or ''
--   texts: of its segments in turn, when none was uploaded
--     text
--   index: of a job to those who are in one
--     name: which (index.lua)
--     topic: whose it is, or ''
--     per_minute: how many jobs to that topic start in a minute, but those that tell of events; 0 for any number
--   variables: of a job whose texts are filled in from a key
--     key: that holds the values
--   event: of a job that tells of one
--     bucket: where it happened
--     per_minute: how many jobs that tell of the bucket start in a minute; 0 for any number
--   ending: what is kept of it after its end
--     retention: how long, in s, when it ended well: done, and nothing of it rejected, expired or failed
--     otherwise: how long when it did not
--     keeps_content: 1, or 0 when nobody asks for the content then, unless the job is large or chunks of it are dead letters
--   pace: of a job that keeps to one
--     per_second: pushes a second, or ''
--     spread: over how many s they are spread, or ''
--   rounds: of a job that starts several times
--     instants: ms, in order, with spaces between
--   lives: of a job with a start whose time to live counts from that
--     seconds
--   begun: of a job of one segment that the caller sends from its entry (direct.lua), by admit_begun
--     started_at: since when, ms. The chunk is the caller's, whatever an operator did to the job meanwhile, and also when
--     the entry was deleted
-- Needs no reserve when no segment was uploaded.
-- Reply: OK, of a job that was begun {OK, the chunk's entry} | DUPLICATE (the entry is dropped) | CONFLICT (refuse it) |
-- TAKEN (what is kept by the entry's id is another job's: refuse it) | STALE, of a key of users also KEY_MISSING | KEY_TYPE | KEY_UNREADABLE | KEY_ENCODING (refuse it), of an index NOT_INDEXED (refuse it), of variables also
-- VARIABLES_MISSING | VARIABLES_TYPE | VARIABLES_UNREADABLE (refuse it), of a topic or an event also LOOP (there are too many of it: refuse it)
local function admit(keys, args)
  local p, now = keys[1], now_ms()
  local first, last = Sections.read(args, ADMIT)
  local consumer, priority, entry = unpack(args, first.entry, last.entry)
  local app, id, digest, content = unpack(args, first.job, last.job)
  local lines, recipients, segments, window, start_at, users_key = unpack(args, first.audience, last.audience)
  local index, topic, topic_per_minute = unpack(args, first.index, last.index)
  if topic == '' then topic = nil end
  local variables_key = unpack(args, first.variables, last.variables)
  local bucket, per_minute = unpack(args, first.event, last.event)
  local retention, otherwise, keeps_content = unpack(args, first.ending, last.ending)
  local per_second, spread = unpack(args, first.pace, last.pace)
  local rounds = unpack(args, first.rounds, last.rounds)
  local lives, begun_at = args[rawget(first, 'lives')], args[rawget(first, 'begun')]
  local key, source = KEY.job(p, app, id), source_of(priority, entry)
  local record = redis.call('HMGET', key, 'state', 'source', 'digest', 'admitted', 'created_at')
  local deliveries = Fairness.owned_job(p, priority, entry, consumer)
  if not deliveries and not (begun_at and Names.is_orphan(p, priority, entry, id, digest, record, consumer)) then
    local chunk = begun_at and Chunks.only_of(p, key, priority, source, consumer)
    return chunk and {'OK', chunk} or 'STALE'
  end
  -- Another job has come by the entry's id since it was begun.
  if begun_at and record[2] == source and record[3] ~= digest then return 'STALE' end
  local answer = Names.standing(p, record, digest, source)
  if answer == 'DUPLICATE' then Fairness.drop_job(p, priority, entry) end
  if answer == 'NEW' and Names.are_segments_in_use(p, source) then answer = 'TAKEN' end
  if answer ~= 'NEW' then
    if record[2] ~= source then drop_uploaded(p, source) end
    return answer
  end
  local told = last.texts - first.texts + 1
  if told > 0 and told ~= tonumber(segments) then
    error({err = 'SECTIONS admit was given ' .. text(told) .. ' texts of ' .. segments .. ' segments'})
  end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  refuse_wrong_type(KEY.finished(p), 'stream')
  refuse_wrong_type(KEY.chunks(p, priority), 'stream')
  refuse_wrong_type(KEY.open(p), 'set')
  segments, recipients = tonumber(segments), tonumber(recipients)
  local kind
  if index then
    -- A topic's never lacks anybody: its users were always added to it.
    if not topic and not Index.is_whole(p, app) then return 'NOT_INDEXED' end
    recipients = Index.size(p, app, index)
  elseif users_key ~= '' then
    kind, recipients = Audience.measure(users_key)
    if not kind then return recipients end
  end
  local wrong = variables_key and Variables.unusable(variables_key)
  if wrong then return wrong end
  if recipients == 0 then segments = 0 end
  local base
  if rounds and not index and users_key == '' then base, segments = segments, 0 end
  local is_named = record[2] == source and record[1] ~= 'refused'
  local guarded = bucket and Loops.of_bucket(p, app, bucket) or topic and Loops.of_topic(p, app, topic)
  local pace = tonumber(bucket and per_minute or topic and topic_per_minute or 0)
  if pace > 0 and not (is_named and record[1] == 'cancelled') then
    local turn = Loops.turn(p, app, guarded, pace, now)
    if not turn then return 'LOOP' end
    if turn > now then start_at = text(math.max(turn, tonumber(start_at) or 0)) end
  end
  local later = start_at ~= '' and tonumber(start_at) > now
  local state = later and 'scheduled' or 'running'
  -- Paused or cancelled since its name was taken.
  if is_named and (record[1] == 'paused' or record[1] == 'cancelled') then state = record[1] end
  if record[1] and not is_named then redis.call('DEL', key) end
  redis.call('HSET', key, 'state', state, 'source', source, 'digest', digest, 'admitted', '1', 'priority',
    priority, 'created_at', is_named and record[5] or Names.enqueued_at(entry, now), 'total', recipients, 'pending', recipients, 'accepted', 0,
    'rejected', 0, 'uninstalled', 0, 'expired', 0, 'skipped', 0, 'failed', 0, 'no_installations', 0, 'retries', 0,
    'segments', segments, 'cursor', 0, 'chunks', 0, 'live', 0, 'residuals', 0, 'residual_bytes', 0, 'window',
    window, 'lines', lines, 'start_at', later and start_at or '0', 'keeps_content', keeps_content or '1')
  if not later then redis.call('HSET', key, 'started_at', begun_at or text(now)) end
  if kind then
    redis.call('HSET', key, 'users_key', users_key, 'unread', recipients, unpack(Reading.begin(kind, users_key, recipients)))
  end
  if index then redis.call('HSET', key, 'index', index, 'unread', recipients, 'scan', 'index') end
  if rounds then redis.call('HSET', key, unpack(Rounds.begin(rounds, later and start_at or text(now)))) end
  if base then
    redis.call('HSET', key, 'base', base, 'base_recipients', recipients, 'unread', recipients, 'scan', 'base')
  end
  -- The content has the instant that this comes to, which is another when the job is to start at another time.
  if lives then redis.call('HSET', key, 'lives', lives) end
  if bucket then redis.call('HSET', key, 'bucket', bucket) end
  -- Under the name that older versions know is what they keep of any job: the longer of the two.
  if otherwise and tonumber(otherwise) ~= LIMIT.RECORD_S then redis.call('HSET', key, 'retention', otherwise) end
  if retention and retention ~= otherwise then redis.call('HSET', key, 'retention_well', retention) end
  if topic then redis.call('HSET', key, 'topic', topic) end
  if per_second then keep_pace(key, per_second, spread, tonumber(recipients), tonumber(window)) end
  redis.call('PERSIST', key)
  redis.call('SET', KEY.content(p, app, id), content)
  for i = first.texts, last.texts do
    redis.call('SET', KEY.segment(p, text(i - first.texts + 1), source), args[i])
  end
  redis.call('SADD', KEY.open(p), app .. ':' .. id)
  if begun_at then
    local chunk = Chunks.add_only(p, app, id, consumer)
    Fairness.drop_job(p, priority, entry)
    return {'OK', chunk}
  end
  if state == 'cancelled' then forget_audience(p, key, source) end
  Chunks.expand(p, app, id, deliveries - 1)
  Chunks.keep_unstarted(p, app, id)
  Fairness.drop_job(p, priority, entry)
  Chunks.finish_if_empty(p, app, id, now)
  return 'OK'
end

-- The text of a refused job in the fields of its dead letter. A caller that had a large one left a copy under
-- P:letter:<source>, for a function takes milliseconds to copy a megabyte.
-- Returns fields, and whether the copy is to become the letter's original.
local function refused_text(p, priority, entry)
  if redis.call('STRLEN', KEY.letter(p, source_of(priority, entry))) > 0 then
    return {'job', '', 'truncated', '1', 'kept', 'job'}, true
  end
  local items = redis.call('XRANGE', KEY.jobs(p, priority), entry, entry)
  return {'job', #items == 1 and fields_of(items[1][2]).job or '', 'truncated', '0'}, false
end

-- refuse — ARGV: consumer, priority, entry, reason code, field (JSON pointer) or '', message, app or '', id or '', how long its
-- record is kept (s). The job becomes a dead letter and has a record (refusals.lua); a name it had reserved is free again. Of those
-- that the loop guard refuses some are only counted, and leave none. Reply: OK | STALE
local function refuse(keys, args)
  local p, priority, entry, app, id = keys[1], args[2], args[3], args[7], args[8]
  local source = source_of(priority, entry)
  local copy = KEY.letter(p, source)
  if not Fairness.owned_job(p, priority, entry, args[1]) then
    redis.call('UNLINK', copy)
    return 'STALE'
  end
  local original, is_copied = refused_text(p, priority, entry)
  local now, bytes = now_ms(), is_copied and redis.call('STRLEN', copy) or #original[2]
  if app == '' and bytes <= LIMIT.NAMED_BYTES_MAX then
    -- What is no JSON to a worker may be some to cjson, as it was to whoever submitted it: by that name it is waited for.
    local named, its_id = Refusals.named_in(is_copied and redis.call('GET', copy) or original[2])
    if named ~= '' then app, id = named, its_id end
  end
  local key = KEY.job(p, app, id)
  local record = redis.call('HMGET', key, 'source', 'admitted')
  local letter, told
  if args[4] == Loops.REASON and not Loops.may_keep(p, app, bytes, now) then
    Loops.count_unkept(p, app, priority, args[5], now)
    redis.call('UNLINK', copy)
  else
    told = {reason = args[4], field = args[5], message = args[6], app = app, id = id, priority = priority, entry = entry}
    letter = Refusals.add_letter(p, now, told, unpack(original))
    if is_copied then
      redis.call('RENAME', copy, KEY.letter(p, letter))
      redis.call('PERSIST', KEY.letter(p, letter))
    end
  end
  if record[1] == source and not record[2] then redis.call('DEL', key) end
  if record[1] ~= source or not record[2] then drop_uploaded(p, source) end
  if letter then Refusals.record(p, now, told, letter, args[9]) end
  Fairness.drop_job(p, priority, entry)
  return 'OK'
end

-- Whether a job is over before all that an operator can do to it.
local function is_over(state) return state == 'done' or state == 'cancelled' or state == 'refused' end

-- Ends a job that has only its name, and whose entry somebody deleted: nobody else will. An empty source makes the name free, for
-- older versions as well.
local function end_lost(p, key, app, id, source, created_at, now)
  redis.call('HSET', key, 'state', 'cancelled', 'source', '')
  redis.call('HDEL', key, 'expires_in')
  redis.call('EXPIRE', key, LIMIT.RECORD_S)
  drop_uploaded(p, source)
  Refusals.announce(p, now, app, id, 'cancelled', created_at or '')
  return 'cancelled'
end

-- cancel — ARGV: app, id. Of many parked chunks the first are dropped here, the others by promotions. The name of a job whose entry
-- somebody deleted is free from then on.
-- Reply: the state now (cancelled; done or refused when it was too late) or ABSENT
local function cancel(keys, args)
  local p, app, id, now = keys[1], args[1], args[2], now_ms()
  local key = KEY.job(p, app, id)
  local r = redis.call('HMGET', key, 'state', 'admitted', 'cursor', 'source', 'priority', 'lines', 'live', 'round',
    'created_at')
  if not r[1] then return 'ABSENT' end
  local is_named = not r[2] and (r[1] == 'cancelled' or not is_over(r[1]))
  if is_named and Names.is_lost(p, r[4]) then return end_lost(p, key, app, id, r[4], r[9], now) end
  if is_over(r[1]) then return r[1] end
  refuse_wrong_type(KEY.finished(p), 'stream')
  refuse_wrong_type(KEY.delayed(p), 'zset')
  redis.call('HSET', key, 'state', 'cancelled')
  if not r[2] then
    redis.call('PERSIST', key)
    return 'cancelled'
  end
  local source = r[4]
  forget_audience(p, key, source)
  -- Chunks that wait for their start time would hold the record open until then.
  local waiting, live = {}, math.min(tonumber(r[7]), LIMIT.WINDOW_MAX)
  for n = math.max(1, tonumber(r[3]) - live + 1), tonumber(r[3]) do
    local member = Chunk.pack({priority = r[5], app = app, job = id, segment = Rounds.name(text(n), r[8]), source = source,
      lines = r[6], crashes = 0})
    if redis.call('ZREM', KEY.delayed(p), member) == 1 then waiting[#waiting + 1] = member end
  end
  if #waiting > 0 then redis.call('RPUSH', KEY.parked(p, app, id), unpack(waiting)) end
  local any = {priority = r[5], app = app, job = id, source = source, lines = r[6]}
  Chunk.go_on_no_more(p, any)
  Chunks.bring_back(p, any, 'cancelled', now)
  Chunks.finish_if_empty(p, app, id, now)
  return 'cancelled'
end

-- pause — ARGV: app, id. Reply: the state now (paused; done, cancelled or refused when it was too late) or ABSENT
local function pause(keys, args)
  local key = KEY.job(keys[1], args[1], args[2])
  local r = redis.call('HMGET', key, 'state', 'admitted')
  local state = r[1]
  if not state then return 'ABSENT' end
  if is_over(state) then return state end
  -- What resume gives back to the name of a job that is not admitted.
  local left = not r[2] and redis.call('TTL', key) or -1
  if left > 0 then redis.call('HSET', key, 'expires_in', text(left)) end
  redis.call('HSET', key, 'state', 'paused')
  redis.call('PERSIST', key)
  return 'paused'
end

-- pace — ARGV: app, id, pushes a second or '' for as many as there can be, chunks that an unpaced job has at a time. Holds for what
-- is claimed from now on, and at once for what keeps to a pace already. Reply: the state now or ABSENT
local function pace(keys, args)
  local key, per_second, window = KEY.job(keys[1], args[1], args[2]), args[3], tonumber(args[4])
  local r = redis.call('HMGET', key, 'state', 'admitted')
  if not r[1] then return 'ABSENT' end
  if is_over(r[1]) then return r[1] end
  redis.call('HDEL', key, 'pushes_per_second', 'spread_over_seconds')
  if per_second ~= '' then
    keep_pace(key, per_second, '', 0, window)
  elseif r[2] then
    redis.call('HSET', key, 'window', text(window))
  end
  return r[1]
end

-- reschedule — ARGV: app, id, the source that its record has, when it is to start (ms) or '' for at once, how far ahead that may be
-- (ms), and the instant by which it expires whenever it starts (ms) or ''. Of a job that has not started. What was due may be on its way
-- to the stream: it looks at the start as well.
-- Reply: MOVED (a paused one starts then when it is resumed) | ABSENT (no such job, or another of this name) | WAITING (no worker has
-- taken it in yet) | ENDED | STARTED | LOCAL (it goes by the clocks of its receivers) | FAR | EXPIRED (it would, before it starts)
local function reschedule(keys, args)
  local p, app, id, now = keys[1], args[1], args[2], now_ms()
  local key = KEY.job(p, app, id)
  local r = redis.call('HMGET', key, 'state', 'admitted', 'source', 'started_at', 'rounds', 'lives', 'cursor', 'live',
    'priority', 'lines')
  if not r[1] or r[3] ~= args[3] then return 'ABSENT' end
  if is_over(r[1]) then return 'ENDED' end
  if not r[2] then return 'WAITING' end
  if r[4] or r[1] ~= 'scheduled' and r[1] ~= 'paused' then return 'STARTED' end
  if r[5] then return 'LOCAL' end
  local start = math.max(now, tonumber(args[4]) or now)
  if start - now > tonumber(args[5]) then return 'FAR' end
  if not r[6] and args[6] ~= '' and tonumber(args[6]) <= start then return 'EXPIRED' end
  local delayed, cursor, live = KEY.delayed(p), tonumber(r[7]), math.min(tonumber(r[8]), LIMIT.WINDOW_MAX)
  refuse_wrong_type(delayed, 'zset')
  refuse_wrong_type(KEY.ready(p, r[9], app), 'zset')
  redis.call('HSET', key, 'start_at', text(start))
  for n = math.max(1, cursor - live + 1), cursor do
    local member = Chunk.pack({priority = r[9], app = app, job = id, segment = text(n), source = r[3], lines = r[10], crashes = 0})
    redis.call('ZADD', delayed, 'XX', text(start), member)
    Ready.leave(p, r[9], app, member)
  end
  Chunk.go_on_at(p, {priority = r[9], app = app, job = id, source = r[3], lines = r[10]}, start)
  return 'MOVED'
end

-- resume — ARGV: app, id. Parked chunks go through the delayed set: the first here, the others by promotions.
-- Reply: the state now or ABSENT
local function resume(keys, args)
  local p, app, id, now = keys[1], args[1], args[2], now_ms()
  local key = KEY.job(p, app, id)
  local r = redis.call('HMGET', key, 'state', 'admitted', 'start_at', 'source', 'priority', 'lines', 'expires_in')
  if not r[1] then return 'ABSENT' end
  if r[1] ~= 'paused' then return r[1] end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  if not r[2] then
    redis.call('HSET', key, 'state', 'queued')
    redis.call('HDEL', key, 'expires_in')
    -- Of a job that is being sent from its entry, this stays when it ends at once.
    redis.call('EXPIRE', key, r[7] or LIMIT.RECORD_S)
    return 'queued'
  end
  local start = tonumber(r[3])
  local state = start > now and 'scheduled' or 'running'
  redis.call('HSET', key, 'state', state)
  if state == 'running' then redis.call('HSETNX', key, 'started_at', text(now)) end
  Chunks.bring_back(p, {priority = r[5], app = app, job = id, source = r[4], lines = r[6]}, state, math.max(now, start))
  Chunks.expand(p, app, id)
  return state
end

register('upload', upload)
register('admit', admit)
-- What is sent already goes on when Redis is full.
register('admit_begun', admit, {'allow-oom'})
register('refuse', refuse, {'allow-oom'})
register('cancel', cancel, {'allow-oom'})
register('pause', pause, {'allow-oom'})
register('resume', resume, {'allow-oom'})
register('pace', pace, {'allow-oom'})
register('reschedule', reschedule, {'allow-oom'})

end
