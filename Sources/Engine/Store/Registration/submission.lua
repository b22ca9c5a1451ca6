-- What any Redis client adds a job with that is to know at once whether its id is free (docs/reference/jobs.md):
--
--   FCALL pushpool_submit 2 <prefix> <prefix>:guard <priority> <job JSON> [<digest> [<app> <id>]]
--
-- For the keys see guard.lua.
--
-- The id of a job is its name. What tells two jobs of one name apart is a digest of the canonical job, which only the program can
-- make: Lua has no SHA-256, and no job's rules. So beside that a record has a digest of the text as it was submitted. The same text
-- is the same job. Another text is taken for another job, also where it only differs by spaces: a caller that is told of a
-- conflict loses nothing, and one that is told that its job was there already would lose the job. The program's own commands give
-- the canonical digest along, and are told exactly. They may give the name along as well: a job that is too large to be read or
-- hashed here in 5 ms is submitted so.

do

local PRIORITY_OF = {h = 'high', n = 'normal', l = 'low'}

-- What a job that had the name before leaves in the record, and what was said of it.
local LEFT = {'digest', 'text', 'pushes_per_second', 'spread_over_seconds', 'window', 'expires_in', 'refused_at', 'reason', 'field',
  'message', 'letter'}

-- An app and an id that keep the rules; or nil and why not.
local function checked(app, id)
  if type(app) ~= 'string' or #app > RULE.app_bytes_max or not string.find(app, '^[%w._-]+$') then
    return nil, '/app: must be 1 to ' .. RULE.app_bytes_max .. ' ASCII letters, digits or . _ -'
  end
  if id ~= nil and (type(id) ~= 'string' or #id > RULE.job_id_bytes_max or not string.find(id, '^[\33-\126]+$')) then
    return nil, '/id: must be 1 to ' .. RULE.job_id_bytes_max .. ' printable ASCII characters without spaces'
  end
  return app, id
end

-- The app and the id of a job, the id nil when it has none; or nil and why they cannot be read. Whoever takes the job judges the rest.
local function name_of(job)
  if #job > RULE.submitted_bytes_max then
    return nil, 'the job has ' .. #job .. ' bytes and pushpool_submit takes ' .. RULE.submitted_bytes_max ..
      ': add it with XADD, or name its users with users_key'
  end
  local is_read, value = pcall(cjson.decode, job)
  if not is_read then
    local mistake = Json.encoding_mistake(job)
    return nil, 'not valid JSON' .. (mistake and ' at byte 0: ' .. mistake or '')
  end
  if type(value) ~= 'table' then return nil, 'must be an object' end
  local app, id = value.app, value.id
  if app == nil then return nil, '/app: is missing: a job belongs to an app' end
  return checked(app, id)
end

-- Whether the name of a record can be taken: nobody has it, a job that was refused, or one that was never admitted and waits no
-- more, since its stream is empty. record: state, source, digest, admitted.
local function is_free(p, record)
  if not record[1] or record[1] == 'refused' then return true end
  if record[4] == '1' then return false end
  local priority = PRIORITY_OF[string.sub(record[2] or '', 1, 1)]
  return not priority or redis.call('XLEN', KEY.jobs(p, priority)) == 0
end

local function answer(status, id, entry, state)
  local members = {'"status":"' .. status .. '"', '"id":' .. cjson.encode(id)}
  if entry then members[#members + 1] = '"entry":' .. cjson.encode(entry) end
  if state then members[#members + 1] = '"state":' .. cjson.encode(state) end
  return '{' .. table.concat(members, ',') .. '}'
end

-- Writes the record of a job that waits. The job is in its stream by now: a caller that may not write records, or finds something
-- else there, must not be told of an error and add the job once more.
local function write(key, priority, entry, text_digest, digest, has_record)
  if has_record then redis.pcall('HDEL', key, unpack(LEFT)) end
  local fields = {'state', 'queued', 'source', string.sub(priority, 1, 1) .. entry, 'created_at', string.match(entry, '^%d+'),
    'priority', priority, 'text', text_digest}
  if digest then fields[#fields + 1], fields[#fields + 2] = 'digest', digest end
  redis.pcall('HSET', key, unpack(fields))
  redis.pcall('EXPIRE', key, RULE.submitted_name_s)
end

-- pushpool_submit — ARGV: high|normal|low, a job, the digest of the canonical job if the caller knows it, and then its app and id
-- if the caller has read them. Adds the job to its
-- stream and gives it a record, unless the name is taken.
-- Reply: {"status": created, "id", "entry"}, {"status": replayed, "id", "entry", "state"} (of the same job that came before; nothing
-- is added), or {"status": conflict, "id"} (another job has the name; nothing is added)
local function submit(keys, args)
  local refusal = Guard.refusal('pushpool_submit', keys, 'a priority and a job')
  if refusal then return redis.error_reply('INVALID ' .. refusal) end
  if #args < 2 or #args > 5 or #args == 4 then
    return redis.error_reply('INVALID pushpool_submit takes a priority and a job beside its keys')
  end
  local p, priority, job, digest, app, id = keys[1], args[1], args[2], args[3], args[4], args[5]
  if PRIORITY_OF[string.sub(priority, 1, 1)] ~= priority then
    return redis.error_reply('INVALID the priority must be high, normal or low')
  end
  if digest and not (#digest == 32 and string.find(digest, '^[0-9a-f]+$')) then
    return redis.error_reply('INVALID the digest must be 32 hexadecimal digits: leave it out')
  end
  if app then app, id = checked(app, id) else app, id = name_of(job) end
  if not app then return redis.error_reply('INVALID ' .. id) end
  local elsewhere = Guard.elsewhere(p, app)
  if elsewhere then return redis.error_reply('INVALID ' .. elsewhere) end
  -- Of a large text the canonical digest alone is known.
  local text_digest = #job <= RULE.submitted_bytes_max and redis.sha1hex(job) or digest
  local record = id and redis.call('HMGET', KEY.job(p, app, id), 'state', 'source', 'digest', 'admitted', 'text') or {}
  if not is_free(p, record) then
    if record[5] ~= text_digest and not (digest and record[3] == digest) then return answer('conflict', id) end
    return answer('replayed', id, string.sub(record[2] or '', 2), record[1])
  end
  local entry = redis.call('XADD', KEY.jobs(p, priority), '*', 'job', job)
  if not id then
    id = string.sub(priority, 1, 1) .. entry
    record = redis.pcall('HMGET', KEY.job(p, app, id), 'state')
    -- A producer may choose an id that looks like one of ours.
    if record[1] and record[1] ~= 'refused' then return answer('created', id, entry) end
  end
  write(KEY.job(p, app, id), priority, entry, text_digest, digest, record[1])
  return answer('created', id, entry)
end

redis.register_function{function_name = 'pushpool_submit', callback = submit, flags = {}}

end
