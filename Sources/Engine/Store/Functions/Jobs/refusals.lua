-- Refusals: what is left of a job that is not admitted. It becomes a dead letter. And whoever waits for it finds a record, in state
-- refused, where its app and its id can be read: producers may not read the dead letters.
--
-- Such a record has no digest and is not admitted, so that its name is free: also to a version that does not know the state. Nor has
-- it finished_at, by which such a version would believe the next job of this name to be over.

local Refusals = {}  -- what later files use of it

do

-- Whether both may be part of a key. A text that breaks the rules may say anything.
local function may_name(app, id)
  return #app <= LIMIT.APP_BYTES_MAX and #id <= LIMIT.JOB_ID_BYTES_MAX
    and string.find(app, '^[%w._-]+$') and string.find(id, '^[\33-\126]+$') and true
end

-- The app and the id that a job's text says, each '' when it cannot be read, or only at a cost that nobody should have to wait for.
local function named_in(job)
  if #job > LIMIT.NAMED_BYTES_MAX then return '', '' end
  local is_read, value = pcall(cjson.decode, job)
  if not is_read or type(value) ~= 'table' then return '', '' end
  local app, id = value.app, value.id
  app = type(app) == 'string' and may_name(app, 'x') and app or ''
  return app, type(id) == 'string' and may_name('x', id) and id or ''
end

-- A dead letter of a job. told: reason, field, message, app and id ('' when they cannot be read), priority, entry. Behind it the
-- fields that hold the job's text. Returns its entry.
local function add_letter(p, now, told, ...)
  return dead_letter(p, now, 'kind', 'job', 'reason', told.reason, 'field', told.field, 'message', told.message, 'app', told.app,
    'id', told.id, 'priority', told.priority, 'job_entry', told.entry, ...)
end

-- The id of a job: that of one that says none is made of its entry.
local function id_of(id, priority, entry) return id ~= '' and id or source_of(priority, entry) end

-- The message as far as a record holds it, without half a character at its end.
local function excerpt(message)
  if #message <= LIMIT.REFUSAL_BYTES_MAX then return message end
  return (string.gsub(string.sub(message, 1, LIMIT.REFUSAL_BYTES_MAX), '[\192-\247]?[\128-\191]*$', ''))
end

local COUNTERS = {'total', 'accepted', 'rejected', 'uninstalled', 'expired', 'skipped', 'failed', 'pending', 'no_installations',
  'retries'}

-- Tells that a job has ended of which nothing was counted: to whoever waits it has. Behind its times the fields of its own.
local function announce(p, now, app, id, state, created_at, ...)
  local notice = {'app', app, 'id', id, 'state', state}
  for _, name in ipairs(COUNTERS) do notice[#notice + 1], notice[#notice + 2] = name, '0' end
  for _, word in ipairs({'created_at', created_at, 'started_at', '', 'finished_at', text(now), ...}) do
    notice[#notice + 1] = word
  end
  -- What stands there in its place must not keep a job from being refused.
  redis.pcall('XADD', KEY.finished(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', unpack(notice))
end

-- Writes the record of a refused job, and tells pushpool:finished, unless its name cannot be read or is another job's, which goes on
-- or has ended. To be called while the entry is there still. letter: its dead letter's entry; retention: how long it is kept, in s,
-- and of what the loop guard refused no longer than a day.
local function record(p, now, told, letter, retention)
  local id, source = id_of(told.id, told.priority, told.entry), source_of(told.priority, told.entry)
  if not may_name(told.app, id) then return end
  local key = KEY.job(p, told.app, id)
  local found = redis.pcall('HMGET', key, 'state', 'source', 'digest', 'admitted')
  if found.err or Names.standing(p, found, '', source) ~= 'NEW' then return end
  local created_at = Names.enqueued_at(told.entry, now)
  redis.call('DEL', key)
  redis.call('HSET', key, 'state', 'refused', 'source', source, 'created_at', created_at, 'refused_at', text(now), 'reason',
    told.reason, 'field', told.field, 'message', excerpt(told.message), 'letter', letter)
  local kept = tonumber(retention or LIMIT.RECORD_S)
  if told.reason == Loops.REASON then kept = math.min(kept, LIMIT.LOOP_RECORD_S) end
  redis.call('EXPIRE', key, text(kept))
  announce(p, now, told.app, id, 'refused', created_at, 'reason', told.reason, 'field', told.field, 'message',
    excerpt(told.message), 'letter', letter)
end

-- The record that a dead letter has left is gone when that is retried: its job waits again. fields: of the letter.
local function forget(p, letter, fields)
  local app = fields.app or ''
  local id = id_of(fields.id or '', fields.priority or '', fields.job_entry or '')
  if not may_name(app, id) then return end
  local key = KEY.job(p, app, id)
  local found = redis.pcall('HMGET', key, 'state', 'letter')
  if found[1] == 'refused' and found[2] == letter then redis.call('DEL', key) end
end

Refusals.named_in = named_in
Refusals.add_letter = add_letter
Refusals.record = record
Refusals.forget = forget
Refusals.announce = announce

end
