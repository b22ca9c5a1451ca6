-- Names: the records of jobs that are not admitted yet. An app and an id name a job. Its source, of the entry that it came by, names
-- what is kept of it beside the record; its digest tells it from another that came by the same entry id.

local Names = {}  -- what later files use of it

do

-- When a job was enqueued, as text: the milliseconds of its entry id, unless the producer chose an id that is no time.
local function enqueued_at(entry, now)
  local digits = string.match(entry, '^(%d+)-')
  local ms = tonumber(digits)
  return ms and ms <= now and ms > LIMIT.ENTRY_MS_MIN and digits or text(now)
end

-- Whether the entry that a source names still waits to be admitted.
local function is_pending(p, source)
  local entry = string.sub(source, 2)
  for _, priority in ipairs(PRIORITIES) do
    if source_of(priority, entry) == source then return has_entry(KEY.jobs(p, priority), entry) end
  end
  return false
end

-- NEW, DUPLICATE or CONFLICT of a job against the record of that name. record: state, source, digest, admitted.
local function standing(p, record, digest, source)
  if not record[1] or record[1] == 'refused' then return 'NEW' end
  -- The same source: this job, whose name an operator or a worker that died took before it was admitted. With other content it
  -- is another one, that came by the same entry id: the stream was deleted.
  if record[2] == source then
    if record[4] ~= '1' then return 'NEW' end
    return record[3] == digest and 'DUPLICATE' or 'CONFLICT'
  end
  -- The job that reserved the name was lost before it was admitted, or became a dead letter of an older version: the name is free.
  if not record[4] and not is_pending(p, record[2]) then return 'NEW' end
  return record[3] == digest and 'DUPLICATE' or 'CONFLICT'
end

-- Whether what is kept by a source is that of a job that goes on. Of a job that is not admitted yet, it is another's: that one came
-- by the same entry id, before the stream was deleted. What was only uploaded ends by itself.
local function are_segments_in_use(p, source)
  return redis.call('EXISTS', KEY.unfinished(p, source), KEY.read(p, source)) > 0
    or redis.call('TTL', KEY.segment(p, '1', source)) == -1
end

-- Whether this record is that of a job by this entry which has its name and is not admitted yet.
local function is_named(record, source, digest)
  return record[2] == source and record[3] == digest and not record[4]
end

-- Whether another than the consumer has the entry of a job, also one that was trimmed from the stream.
local function has_other(p, priority, entry, consumer)
  local pending = redis.pcall('XPENDING', KEY.jobs(p, priority), GROUP, entry, entry, 1)
  local holder = not pending.err and pending[1] and pending[1][2] or redis.call('HGET', KEY.scout(p, priority), 'c:' .. entry)
  return holder and holder ~= consumer
end

-- Whether the entry that a record's source names is gone, and nobody has it: somebody deleted it, or it became a dead letter that
-- names no job. An empty source names none.
local function is_lost(p, source)
  if not source or source == '' then return false end
  local entry = string.sub(source, 2)
  for _, priority in ipairs(PRIORITIES) do
    if source_of(priority, entry) == source then
      return not has_entry(KEY.jobs(p, priority), entry) and not has_other(p, priority, entry)
    end
  end
  return true
end

-- Whether a dead letter was made of the job lately. One that nobody could read names no job.
local function has_letter(p, priority, entry, id)
  for _, item in ipairs(redis.call('XREVRANGE', KEY.dead(p), '+', '-', 'COUNT', LIMIT.LETTERS_LOOKED_MAX)) do
    local fields = fields_of(item[2])
    if fields.job_entry == entry and fields.priority == priority and (fields.id == '' or fields.id == id) then return true end
  end
  return false
end

-- Whether the entry of a job that has its name was deleted, and nobody else has it: it goes on with who has its text.
local function is_orphan(p, priority, entry, id, digest, record, consumer)
  return is_named(record, source_of(priority, entry), digest) and not has_entry(KEY.jobs(p, priority), entry)
    and not has_other(p, priority, entry, consumer) and not has_letter(p, priority, entry, id)
end

-- How long a name is kept, as text: Redis takes longer to make one of a number.
local NAME_S = LIMIT.SEGMENT_S .. ''

-- Writes the record of a name that is free, as of a job that waits. brief: for how many seconds, of a job that is over at once. Its
-- record leaves out what nobody reads of an ended one.
local function write_name(p, priority, entry, app, id, digest, now, brief)
  local key = KEY.job(p, app, id)
  redis.call('HSET', key, 'state', 'queued', 'source', source_of(priority, entry), 'digest', digest, 'created_at',
    enqueued_at(entry, now))
  if not brief then redis.call('HSET', key, 'priority', priority) end
  redis.call('EXPIRE', key, brief or NAME_S)
  return 'NEW'
end

-- Takes a name for the job of an entry, before it is admitted. What another job of this name was told before it was lost
-- does not hold for this one.
-- Returns its standing; if it had the name before, also its state, and whether an operator has given it a pace.
local function take_name(p, priority, entry, app, id, digest, now, brief)
  local key, source = KEY.job(p, app, id), source_of(priority, entry)
  local record = redis.call('HMGET', key, 'state', 'source', 'digest', 'admitted', 'pushes_per_second')
  local answer, is_own = standing(p, record, digest, source), record[2] == source and record[1] ~= 'refused'
  if answer == 'NEW' and not is_own then
    if record[1] then redis.call('DEL', key) end
    write_name(p, priority, entry, app, id, digest, now, brief)
  elseif answer == 'NEW' and record[1] == 'queued' then
    -- Not what an operator has stopped: that has no end.
    redis.call('EXPIRE', key, brief or NAME_S)
  end
  if not is_own then return answer end
  -- What an operator has said of the entry holds for whatever it is by now.
  if answer == 'NEW' and record[3] ~= digest then redis.call('HSET', key, 'digest', digest) end
  return answer, record[1], record[5] and true
end

-- reserve — ARGV: consumer, priority, entry, app, id, digest. Takes the name before segments are uploaded.
-- Reply: NEW | CANCELLED (while it waited: no segment is needed) | DUPLICATE (the entry is dropped) | CONFLICT (refuse
-- it) | TAKEN (what is kept by the entry's id is another job's: refuse it) | STALE
local function reserve(keys, args)
  local p, priority, entry, app, id, digest = keys[1], unpack(args, 2, 6)
  if not Fairness.owned_job(p, priority, entry, args[1]) then return 'STALE' end
  local answer, state = take_name(p, priority, entry, app, id, digest, now_ms())
  if answer == 'NEW' and are_segments_in_use(p, source_of(priority, entry)) then return 'TAKEN' end
  if answer == 'DUPLICATE' then Fairness.drop_job(p, priority, entry) end
  return answer == 'NEW' and state == 'cancelled' and 'CANCELLED' or answer
end

register('reserve', reserve)

Names.enqueued_at = enqueued_at
Names.standing = standing
Names.is_named = is_named
Names.has_other = has_other
Names.is_orphan = is_orphan
Names.is_lost = is_lost
Names.has_letter = has_letter
Names.are_segments_in_use = are_segments_in_use
Names.write = write_name
Names.take = take_name

end
