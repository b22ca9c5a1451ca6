-- Dead letters

do

local IS_PRIORITY = {}
for place = 1, #PRIORITIES do IS_PRIORITY[PRIORITIES[place]] = true end

local function retry_chunk(p, letter, f)
  -- What another program has written cannot be retried.
  if not (f.app and f.id and f.recipients and f.done and f.segment and string.find(f.count or '', '^%d+$') and IS_PRIORITY[f.priority]) then
    return 'GONE'
  end
  local key = KEY.job(p, f.app, f.id)
  local r = redis.call('HMGET', key, 'source', 'state', 'finished_at', 'segments', 'failed')
  if f.recipients == '' or not f.source or r[1] ~= f.source then return 'GONE' end
  -- The job has ended, and nothing of it had failed: each recipient of the chunk was done.
  if r[3] and not r[4] then return 'GONE' end
  -- What was never started is skipped when the job ends; to run again now, it would be lost.
  if r[2] == 'cancelled' and not r[3] then return 'ENDING' end
  local n = tonumber(f.count)
  -- Those of a letter of ours are among the failed.
  if n > tonumber(r[5] or '0') then return 'GONE' end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  local kind = f.lines == 'users' and 'u' or 'r'
  local segment = Rounds.name(kind .. text(redis.call('HINCRBY', key, 'residuals', 1)), Rounds.of(f.segment))
  redis.call('SET', KEY.segment(p, segment, f.source), f.recipients)
  if f.done ~= '' then redis.call('SET', KEY.done(p, segment, f.source), f.done) end
  Badges.restore(p, letter, segment, f.source)
  redis.call('HINCRBY', key, 'failed', 0 - n)  -- -0 is no integer to Redis
  redis.call('HINCRBY', key, 'pending', n)
  redis.call('HINCRBY', key, 'chunks', 1)
  redis.call('HINCRBY', key, 'residual_bytes', #f.recipients)
  redis.call('HSET', KEY.unfinished(p, f.source), segment, '')
  redis.call('SADD', KEY.open(p), f.app .. ':' .. f.id)
  if r[2] == 'done' or r[2] == 'cancelled' then
    redis.call('HSET', key, 'state', 'running')
    redis.call('HDEL', key, 'finished_at')
    redis.call('PERSIST', key)
    redis.call('PERSIST', KEY.content(p, f.app, f.id))
  end
  Chunks.route(p, {priority = f.priority, app = f.app, job = f.id, segment = segment, source = f.source,
    lines = f.lines, crashes = 0}, now_ms(), 0)
  return 'RETRIED'
end

local function drop(p, entry)
  redis.call('UNLINK', KEY.letter(p, entry), KEY.letter_badges(p, entry))
  return redis.call('XDEL', KEY.dead(p), entry)
end

-- dead_list — ARGV: entry to start behind or '-', max. What is large (job, recipients, done) is left out. Large letters of
-- older versions have their original in the entry: so many bytes are looked at, or one letter.
-- Reply: {1 when there may be more, else 0, {entry, {name, value…}}…}
local function dead_list(keys, args)
  local after, max, bytes, count = args[1], tonumber(args[2]), 0, 1
  local reply = {0}
  while #reply <= max do
    local first = after == '-' and '-' or '(' .. after
    local items = redis.call('XRANGE', KEY.dead(keys[1]), first, '+', 'COUNT', math.min(count, max + 1 - #reply))
    for _, item in ipairs(items) do
      local kept = {}
      for i = 1, #item[2], 2 do
        local name = item[2][i]
        if name ~= 'job' and name ~= 'recipients' and name ~= 'done' then
          kept[#kept + 1], kept[#kept + 2] = name, item[2][i + 1]
        end
      end
      bytes, after = bytes + size_of(item[2]), item[1]
      reply[#reply + 1] = {item[1], kept}
    end
    if #items == 0 then return reply end
    if bytes > LIMIT.LISTED_BYTES_MAX then break end
    count = bytes <= (#reply - 1) * LIMIT.LETTER_BYTES_MAX and LIMIT.LISTED_AT_ONCE or 1
  end
  reply[1] = 1
  return reply
end

-- dead_retry — ARGV: entry, and anything to copy a large job here all the same. Queues the job again as new, or the chunk's open
-- recipients within its job. The record of a refused job that is retried is gone until a worker takes the job.
-- Reply: {RETRIED, the job's new entry or nil} | ABSENT (retried or dropped before) | GONE (its job or original is not kept any more) | ENDING (its
-- job is cancelled and chunks of it are still being ended) | LARGE (the caller is to copy it)
local function dead_retry(keys, args)
  local p, entry = keys[1], args[1]
  local items = redis.call('XRANGE', KEY.dead(p), entry, entry)
  if #items == 0 then return 'ABSENT' end
  if not args[2] and redis.call('STRLEN', KEY.letter(p, entry)) > LIMIT.COPIED_BYTES_MAX then return 'LARGE' end
  local f = whole_letter(p, items[1])
  local answer, queued
  if f.kind == 'chunk' then
    answer = retry_chunk(p, entry, f)
  elseif f.truncated == '1' or f.reason == 'malformed_entry' or not f.job or f.job == '' or not IS_PRIORITY[f.priority] then
    answer = 'GONE'
  else
    queued = redis.call('XADD', KEY.jobs(p, f.priority), '*', 'job', f.job)
    Refusals.forget(p, entry, f)
    answer = 'RETRIED'
  end
  if answer ~= 'RETRIED' then return answer end
  drop(p, entry)
  return {answer, queued}
end

-- dead_drop — ARGV: entry. Reply: 1, or 0 when it was not there
local function dead_drop(keys, args)
  return drop(keys[1], args[1])
end

register('dead_list', dead_list, {'no-writes'})
register('dead_retry', dead_retry)
register('dead_drop', dead_drop, {'allow-oom'})

end
