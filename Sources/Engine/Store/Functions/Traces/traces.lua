-- Traces
--
-- An entry of a trace is a batch of lines (TraceLine.swift). `bytes` and `events` are what all entries before it
-- held, trimmed ones included: so the first entry says how much is gone, and no counter needs a key of its own.

do

-- Whether a batch is there already: the reply to the call that brought it was lost.
local function has_batch(key, by, number)
  for _, item in ipairs(redis.call('XREVRANGE', key, '+', '-', 'COUNT', LIMIT.TRACE_AGAIN_MAX)) do
    local f = fields_of(item[2])
    if f.by == by and f.no == number then return true end
  end
  return false
end

-- trace — ARGV: app, job, who recorded it, number of lines, the lines, which of its batches it is, 1 when it may be there already else
-- 0. The oldest entries go when the job's trace would pass its limit. Reply: OK
-- Not allow-oom: when Redis is full, a trace is the first thing to do without.
local function trace(keys, args)
  local key = KEY.trace(keys[1], args[1], args[2])
  if args[7] == '1' and has_batch(key, args[3], args[6]) then return 'OK' end
  local last = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local bytes, events = 0, 0
  if last then
    local f = fields_of(last[2])
    bytes = tonumber(f.bytes) + #f.lines + LIMIT.TRACE_ENTRY_BYTES
    events = tonumber(f.events) + tonumber(f.count)
  end
  redis.call('XADD', key, '*', 'by', args[3], 'bytes', text(bytes), 'events', text(events), 'count', args[4],
    'lines', args[5], 'no', args[6])
  redis.call('EXPIRE', key, LIMIT.TRACE_S)
  local till = bytes + #args[5] + LIMIT.TRACE_ENTRY_BYTES
  while till > LIMIT.TRACE_BYTES_MAX do
    local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
    if till - tonumber(fields_of(first[2]).bytes) <= LIMIT.TRACE_BYTES_MAX then break end
    redis.call('XDEL', key, first[1])
  end
  return 'OK'
end

register('trace', trace)

end
