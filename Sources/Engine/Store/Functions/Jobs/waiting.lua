-- Jobs that wait to be admitted: operators find them by name and give them a record, which is then cancelled, paused
-- and shown as any other.

do

-- Whether a job's text may hold this id, in quotes: as it stands, or written with escapes.
local function may_be_called(job, quoted)
  if #job > LIMIT.SEARCHED_BYTES or string.find(job, quoted, 1, true) then return true end
  if not string.find(job, '\\', 1, true) then return false end
  local at = string.find(job, '"id"', 1, true)
  while at do
    if string.find(job, '^"id"%s*:%s*"[^"]*\\', at) then return true end
    at = string.find(job, '"id"', at + 4, true)
  end
  return false
end

-- Calls see(entry, its fields) for at most SEARCHED_MAX entries behind `from`. Returns the last one seen, and whether there are more.
local function look_ahead(stream, from, see)
  local bytes, looked, count = 0, 0, 1
  while looked < LIMIT.SEARCHED_MAX do
    local items = redis.call('XRANGE', stream, '(' .. from, '+', 'COUNT', count)
    local before = bytes
    for _, item in ipairs(items) do
      see(item[1], item[2])
      from = item[1]
      bytes = bytes + size_of(item[2])
    end
    if #items < count then return from, false end
    if bytes > LIMIT.SEARCHED_BYTES_MAX then break end
    looked = looked + count
    -- Large ones tend to stand beside one another, and each is copied whole.
    count = bytes - before < count * LIMIT.GLANCE_BYTES and LIMIT.SEARCHED_AT_ONCE or 1
  end
  return from, true
end

-- find_waiting — ARGV: priority, id, behind which entry (0-0 at first), largest job in bytes. Which of the next entries
-- may be the job of this id; no larger ones, which are no jobs.
-- Reply: {how many were looked at, the last one of them, 1 when there are more else 0, entry…}, or LARGE (the caller is to read
-- the stream)
local function find_waiting(keys, args)
  local quoted, bytes_max, looked, found = '"' .. args[2] .. '"', tonumber(args[4]), 0, {}
  if large_mean(KEY.jobs(keys[1], args[1])) then return 'LARGE' end
  local last, has_more = look_ahead(KEY.jobs(keys[1], args[1]), args[3], function(entry, fields)
    looked = looked + 1
    local job = fields_of(fields).job
    if job and #job <= bytes_max and may_be_called(job, quoted) then found[#found + 1] = entry end
  end)
  return {looked, last, has_more and 1 or 0, unpack(found)}
end

-- name_waiting — ARGV: priority, entry, app, id, digest. Takes a job's name as reserve does, for an entry that nobody
-- need own: who owns it, or will, goes on from there.
-- Reply: NEW (the name is the entry's) | DUPLICATE, CONFLICT (another job's) | GONE (the entry was admitted or refused)
local function name_waiting(keys, args)
  local p, priority, entry, app, id, digest = keys[1], unpack(args)
  if not has_entry(KEY.jobs(p, priority), entry) then return 'GONE' end
  return Names.take(p, priority, entry, app, id, digest, now_ms())
end

-- has_job — ARGV: priority, entry. Reply: 1 while the entry is in its stream, else 0
local function has_job(keys, args)
  return has_entry(KEY.jobs(keys[1], args[1]), args[2]) and 1 or 0
end

register('find_waiting', find_waiting, {'no-writes'})
register('has_job', has_job, {'allow-oom'})
register('name_waiting', name_waiting, {'allow-oom'})

end
