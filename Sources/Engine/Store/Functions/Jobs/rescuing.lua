-- Jobs in the hands of a lane whose entries are gone: somebody deleted the stream, trimmed it, or Redis lost it.

do

-- Whether the entry is in its stream yet, and is this job's.
local function is_there(p, priority, entry, job)
  local items = redis.call('XRANGE', KEY.jobs(p, priority), entry, entry)
  return #items == 1 and field_of(items[1][2], 'job') == job
end

-- rescue — ARGV: consumer, priority, entry, app, id, digest, job text, how long its record is kept (s). Of a job that the caller has
-- taken, and that is not its own any more. If nobody else has it, and nothing else tells of it, it becomes a dead letter, with a
-- record (refusals.lua): only the caller has its text. Its name is free again. One that an operator has cancelled just ends. What was
-- uploaded of it ends by itself.
-- Reply: 1 when it has become one, else 0
local function rescue(keys, args)
  local p, now = keys[1], now_ms()
  local consumer, priority, entry, app, id, digest, job, retention = unpack(args)
  refuse_wrong_type(KEY.dead(p), 'stream')
  if is_there(p, priority, entry, job) or Names.has_other(p, priority, entry, consumer) then return 0 end
  local key = KEY.job(p, app, id)
  local record = redis.call('HMGET', key, 'state', 'source', 'digest', 'admitted')
  local source = source_of(priority, entry)
  -- Refused before, by whoever had it.
  if record[1] == 'refused' and record[2] == source then return 0 end
  local is_named = Names.is_named(record, source, digest)
  if record[1] == 'cancelled' and record[2] == source and not record[4] then
    redis.call('EXPIRE', key, retention)
    return 0
  end
  if not is_named and record[3] == digest or Names.has_letter(p, priority, entry, id) then return 0 end
  if is_named then redis.call('DEL', key) end
  local told = {reason = 'entry_lost', field = '', message =
    'The entry of this job was deleted after a worker had taken it; look for what trims or deletes ' .. KEY.jobs(p, priority) ..
    ', then retry this', app = app, id = id, priority = priority, entry = entry}
  local letter = Refusals.add_letter(p, now, told, 'job', job, 'truncated', '0')
  Refusals.record(p, now, told, letter, retention)
  Alarms.lost_work(p, app, 'job ' .. id .. ' was taken by a worker, and its entry deleted before it was admitted', now)
  return 1
end

register('rescue', rescue, {'allow-oom'})

end
