-- Apps that stand in Redis and in no configuration file.
--
-- HASH P:apps: app → its record, JSON with its secrets sealed (AppRecord.swift). STREAM P:app_changes: an entry for each change, field
-- app. A worker keeps the id of the last entry that it has read, and asks for what is behind it. When that entry is there no more it
-- reads all records anew: changes were trimmed, or this is another Redis.

do

-- Names a change of a record; '' for a value that is no record.
local function revision_of(record)
  local ok, found = pcall(cjson.decode, record)
  return ok and type(found) == 'table' and type(found.revision) == 'string' and found.revision or ''
end

local function note(p, app)
  redis.call('XADD', KEY.app_changes(p), 'MAXLEN', '~', LIMIT.APP_CHANGES_KEPT, '*', 'app', app)
end

local function refuse_wrong_types(p)
  refuse_wrong_type(KEY.apps(p), 'hash')
  refuse_wrong_type(KEY.app_changes(p), 'stream')
end

-- put_app — ARGV: app, record, add | set | put (whether there must be none yet, must be one, or either), the revision that it must
-- have or '' for any, how many apps there may be.
-- Reply: ADDED | REPLACED | EXISTS | MISSING | CHANGED (it has another revision) | FULL
local function put_app(keys, args)
  local p, app, record, mode, expected, max = keys[1], unpack(args, 1, 5)
  refuse_wrong_types(p)
  local current = redis.call('HGET', KEY.apps(p), app)
  if mode == 'add' and current then return 'EXISTS' end
  if mode == 'set' and not current then return 'MISSING' end
  if expected ~= '' and (not current or revision_of(current) ~= expected) then return 'CHANGED' end
  if not current and redis.call('HLEN', KEY.apps(p)) >= tonumber(max) then return 'FULL' end
  redis.call('HSET', KEY.apps(p), app, record)
  note(p, app)
  return current and 'REPLACED' or 'ADDED'
end

-- remove_app — ARGV: app, the revision that it must have or '' for any. Reply: REMOVED | MISSING | CHANGED
local function remove_app(keys, args)
  local p, app, expected = keys[1], args[1], args[2]
  refuse_wrong_types(p)
  local current = redis.call('HGET', KEY.apps(p), app)
  if not current then return 'MISSING' end
  if expected ~= '' and revision_of(current) ~= expected then return 'CHANGED' end
  redis.call('HDEL', KEY.apps(p), app)
  note(p, app)
  return 'REMOVED'
end

register('put_app', put_app)
register('remove_app', remove_app, {'allow-oom'})

end
