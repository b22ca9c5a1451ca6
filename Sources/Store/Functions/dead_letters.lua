-- Dead letters

do

local function retry_chunk(p, f)
  local key = KEY.job(p, f.app, f.id)
  local r = redis.call('HMGET', key, 'source', 'state', 'finished_at')
  if f.recipients == '' or not f.source or r[1] ~= f.source then return 'GONE' end
  -- What was never started is skipped when the job ends; to run again now, it would be lost.
  if r[2] == 'cancelled' and not r[3] then return 'ENDING' end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  local n = tonumber(f.count)
  local kind = f.lines == 'users' and 'u' or 'r'
  local segment = kind .. text(redis.call('HINCRBY', key, 'residuals', 1))
  redis.call('SET', KEY.segment(p, segment, f.source), f.recipients, 'EX', LIMIT.SEGMENT_S)
  if f.done ~= '' then redis.call('SET', KEY.done(p, segment, f.source), f.done, 'EX', LIMIT.SEGMENT_S) end
  redis.call('HINCRBY', key, 'failed', 0 - n)  -- -0 is no integer to Redis
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
  Chunks.route(p, {priority = f.priority, app = f.app, job = f.id, segment = segment, source = f.source,
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
-- Reply: RETRIED | ABSENT (retried or dropped before) | GONE (its job or original is not kept any more) | ENDING (its
-- job is cancelled and chunks of it are still being ended)
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

register('dead_list', dead_list, {'no-writes'})
register('dead_retry', dead_retry)
register('dead_drop', dead_drop, {'allow-oom'})

end
