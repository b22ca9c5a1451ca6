-- Taking jobs from their streams. A job that is too large for a function to read is leased here, and read by the lane itself.

do

-- The text of a job entry; nil when it cannot even be read. It is dead-lettered here then, with a record where its name can be, and
-- {priority, entry, reason} is added to the refused.
local function read_entry(p, priority, item, deliveries, bytes_max, now, refused)
  local job = field_of(item[2], 'job')
  local reason, message
  if not job then
    reason, message = 'malformed_entry', 'The entry has no field "job"; enqueue with XADD ' .. KEY.jobs(p, priority) ..
      ' * job <JSON>'
  elseif #job > bytes_max then
    reason, message = 'too_large', 'The job has ' .. #job .. ' bytes and the limit is ' .. text(bytes_max) ..
      '; use users_key for a large audience'
  elseif deliveries > LIMIT.CRASHES_MAX then
    reason, message = 'crashed_workers', 'This job was lost by ' .. text(deliveries - 1) .. ' workers in a row'
  end
  if not reason then return job end
  local original = job or cjson.encode(item[2])
  local truncated = #original > bytes_max
  local app, id = Refusals.named_in(job or '')
  local told = {reason = reason, field = '', message = message, app = app, id = id, priority = priority, entry = item[1]}
  local letter = Refusals.add_letter(p, now, told, 'job', truncated and string.sub(original, 1, LIMIT.EXCERPT_BYTES) or original,
    'truncated', truncated and '1' or '0')
  drop_uploaded(p, source_of(priority, item[1]))
  Refusals.record(p, now, told, letter)
  Fairness.drop_job(p, priority, item[1])
  refused[#refused + 1] = {priority, item[1], reason}
end

-- What a call gives to its lane: rows of jobs, of refused entries, and of what the lane is asked to do. Its take(priority, item,
-- deliveries) adds an item. Nobody knows yet how many bytes one has that was not read: who takes it counts the mean.
local function new_taking(p, bytes_max, now)
  local taking, rows, group = {jobs = 0, refused = {}, asked = {}, bytes = 0}, {}, nil
  local function add(priority, entry, job, deliveries)
    taking.jobs = taking.jobs + 1
    if not job or deliveries > 1 then
      rows[#rows + 1], group = {priority, entry, job, deliveries}, nil
      return
    end
    -- Nearly all are given to a worker for the first time: a row for each would cost as much again as its texts.
    if not group or group[2] ~= priority then
      group = {'NEW', priority}
      rows[#rows + 1] = group
    end
    local count = #group
    group[count + 1], group[count + 2] = entry, job
  end
  function taking.take(priority, item, deliveries)
    if not item[2] and deliveries <= LIMIT.CRASHES_MAX then return add(priority, item[1], false, deliveries) end
    -- What killed so many workers is not read by another.
    item = item[2] and item or redis.call('XRANGE', KEY.jobs(p, priority), item[1], item[1])[1]
    local job = read_entry(p, priority, item, deliveries, bytes_max, now, taking.refused)
    if job then add(priority, item[1], job, deliveries) end
    taking.bytes = taking.bytes + size_of(item[2])
  end
  function taking.room()
    return taking.bytes < LIMIT.TAKEN_BYTES_MAX and LIMIT.REFUSED_MAX - #taking.refused or 0
  end
  function taking.has_room() return taking.room() > 0 end
  function taking.reply()
    for _, others in ipairs({taking.refused, taking.asked}) do
      for _, row in ipairs(others) do rows[#rows + 1] = row end
    end
    return rows
  end
  return taking
end

-- Gives the reading of a stream's next entries, up to max, to the lane.
local function ask_to_read(p, priority, max, mean, taking)
  local stream = KEY.jobs(p, priority)
  if not last_given(stream) then redis.call('XGROUP', 'CREATE', stream, GROUP, '0') end
  local at_once = math.floor((LIMIT.TAKEN_BYTES_MAX - taking.bytes) / mean)
  taking.asked[#taking.asked + 1] = {'READ', priority, math.max(1, math.min(max, at_once)), GROUP}
end

-- Takes over what silent workers left of a priority. A job that may have lost two workers comes alone: it alone is blamed if it
-- loses another.
local function take_abandoned(p, priority, consumer, lease_ms, max, now, mean, taking)
  local scout, count, is_suspect = KEY.scout(p, priority), 0, false
  local function may_take(losses)
    return count == 0 or not (losses > 1 or is_suspect) and taking.has_room()
  end
  -- Of large ones a lane asks for few at a time.
  local at_once = mean and 1 or math.min(max, LIMIT.TAKEN_OVER_MAX)
  local function take(item, deliveries, losses)
    count, is_suspect = count + 1, losses > 1
    local field = 'c:' .. item[1]
    if redis.call('HEXISTS', scout, field) == 1 then redis.call('HSET', scout, field, consumer) end
    taking.take(priority, item, deliveries)
  end
  read_abandoned(p, KEY.jobs(p, priority), consumer, lease_ms, at_once, now, take, may_take, mean)
  if count > 0 then taking.asked[#taking.asked + 1] = {'ABANDONED', priority, count} end
end

-- take_jobs — each priority's abandoned entries first; while jobs have to wait each app takes its turn, beside the stream's order
-- unless that is held back. ARGV:
--   consumer, max, largest job in bytes
--   lease: ms, or '' for no reclaim this time
--   leaves_large: 1 to leave streams alone whose entries may be too large to be read here, else 0
--   last: the lowest priority to take
--   behind: the priority to begin behind, if not at the first
-- Reply: rows, of jobs that nobody had before {NEW, priority, (entry, job text)…}, of another {priority, entry, job text, deliveries},
-- of what became a dead letter {priority, entry, reason}, and {ABANDONED, priority, how many}: so many were left by silent workers,
-- which may have left more; {LOOK, priority, from, to, app or nil, at once}: to be read by XRANGE behind `from`, and told to list_ahead.
-- Of a stream with entries that are too large to be read here:
--   {priority, entry, nil, deliveries}: leased, to be read by XRANGE
--   {READ, priority, at once, group}: to be leased and read by XREADGROUP until there are max. When there are fewer, this
--     function is to be called for the priorities behind
local function take_jobs(keys, args)
  local p, consumer, max, now = keys[1], args[1], tonumber(args[2]), now_ms()
  local taking, leaves_large, has_begun = new_taking(p, tonumber(args[3]), now), args[5] == '1', not args[7]
  local function lacks() return max - taking.jobs end
  for _, priority in ipairs(PRIORITIES) do
    local stream = KEY.jobs(p, priority)
    local mean, is_heavy, weight
    if has_begun then mean, is_heavy, weight = large_mean(stream) end
    local may_take = has_begun and not (is_heavy and leaves_large)
    if may_take and args[4] ~= '' and lacks() > 0 and taking.has_room() then
      take_abandoned(p, priority, consumer, args[4], lacks(), now, mean, taking)
    end
    if may_take and lacks() > 0 and taking.has_room() then
      local is_held = Fairness.look_at_queue(p, priority, now, weight, taking.asked)
      -- What one app alone waits with need not take turns.
      local in_turn = is_held and math.min(max, LIMIT.IN_TURN_MAX) or
        Fairness.are_several(p, priority) and taking.jobs + math.min(math.ceil(lacks() / 2), LIMIT.IN_TURN_MAX) or 0
      while taking.jobs < in_turn and taking.has_room() do
        local item = Fairness.next_in_turn(p, priority, consumer, now, mean, weight, taking.asked)
        if not item then break end
        taking.take(priority, item, 1)
        if mean then taking.bytes = taking.bytes + mean end
      end
      while not is_held and not mean and lacks() > 0 and taking.has_room() do
        local items = Fairness.next_in_order(
          p, priority, consumer, math.min(lacks(), taking.room()), LIMIT.TAKEN_BYTES_MAX - taking.bytes)
        if #items == 0 then break end
        for _, item in ipairs(items) do taking.take(priority, item, 1) end
      end
      if not is_held and mean and lacks() > 0 and taking.has_room() then
        ask_to_read(p, priority, lacks(), mean, taking)
        break
      end
    end
    if priority == args[6] then break end
    has_begun = has_begun or priority == args[7]
  end
  return taking.reply()
end

-- take_unanswered — ARGV: consumer, max, largest job in bytes, then (priority, entry) of what it has in hand… The caller's
-- jobs that it does not know of, for the connection was lost that the answer to its take_jobs went to, or that it did not
-- come to. Reply as take_jobs, without LOOK and READ
local function take_unanswered(keys, args)
  local p, consumer, max, now = keys[1], args[1], tonumber(args[2]), now_ms()
  local taking = new_taking(p, tonumber(args[3]), now)
  local function has_room() return taking.jobs + #taking.refused < max and taking.has_room() end
  for _, priority in ipairs(PRIORITIES) do
    local stream = KEY.jobs(p, priority)
    local mean = large_mean(stream)
    read_unanswered(stream, consumer, args, 4, priority, max, has_room, function(item, deliveries)
      taking.take(priority, item, deliveries)
    end, mean, function(entry) return Fairness.keep_or_give_back(p, priority, entry, consumer) end)
  end
  return taking.reply()
end

-- judge_entry — ARGV: consumer, priority, entry, largest job in bytes. An entry that a lane read itself and that is no job.
-- Reply as take_jobs: it became a dead letter, or is nobody's any more
local function judge_entry(keys, args)
  local p, consumer, priority, entry = keys[1], unpack(args, 1, 3)
  local stream, taking = KEY.jobs(p, priority), new_taking(p, tonumber(args[4]), now_ms())
  local deliveries = owned(stream, entry, consumer)
  local item = deliveries and redis.call('XRANGE', stream, entry, entry)[1]
  if item then taking.take(priority, item, deliveries) end
  return taking.reply()
end

register('take_jobs', take_jobs)
register('take_unanswered', take_unanswered)
register('judge_entry', judge_entry)

end
