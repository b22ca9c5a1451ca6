-- The loop guard. An app that changes data because a push told it of a change makes another push, and so on: a loop, which
-- grows with each device that takes part. An app that sends to a topic because it received from it does the same. So jobs that
-- tell of events start at a bounded pace, for each bucket of each app and for the whole fleet, and so do jobs to each topic that
-- tell of none. A bucket or topic saves up a minute's worth. What comes faster waits for its turn, in the delayed set; what would
-- have to wait for too long is refused.
--
-- STRING P:loop:<app>:<bucket>, P:topic_loop:<app>:<topic>: up to when turns are given away, in ms; gone when a minute's worth
-- is saved up again.
-- HASH P:loop_letters:<app>: since (ms) and bytes, of the originals kept as dead letters of the last day; letter, the entry
-- that counts those that were not kept.

local Loops = {REASON = 'loop_guard'}  -- what later files use of it

do

-- What is guarded: where its turns are kept, its alarm, and what people are told.
local function of_bucket(p, app, bucket)
  return {key = KEY.loop(p, app, bucket), alarm = 'loop|' .. app .. '|' .. bucket, what = 'events', whose = 'of the bucket ' .. bucket,
    advice = 'changes data when it is told of a change'}
end

local function of_topic(p, app, topic)
  return {key = KEY.topic_loop(p, app, topic), alarm = 'topic_loop|' .. app .. '|' .. topic, what = 'jobs',
    whose = 'to the topic ' .. topic, advice = 'sends to the topic when it receives from it'}
end

-- Has operators look at what is guarded, now and then while it lasts: to raise an alarm costs more than to look at one.
local function warn(p, app, guarded, per_minute, now)
  if Alarms.left_ms(p, guarded.alarm, now) > LIMIT.LOOP_ALARM_MS / 2 then return end
  -- Many may loop at a time: they leave places to others.
  if Alarms.count(p) >= LIMIT.LOOP_ALARMS_MAX then return end
  Alarms.set(p, guarded.alarm, 'store', LIMIT.LOOP_ALARM_MS, app .. ': more than ' .. text(per_minute) .. ' ' .. guarded.what ..
    ' a minute ' .. guarded.whose .. '; some wait for up to a minute, and what would wait for longer becomes dead letters (' ..
    Loops.REASON .. '). Look for an app that ' .. guarded.advice, now)
end

-- When a job may start that is guarded: now or later; nil when that would be too late.
local function turn(p, app, guarded, per_minute, now)
  local key, interval = guarded.key, 60000 / per_minute
  local found = redis.pcall('GET', key)
  local given = tonumber(type(found) == 'string' and found or '0') or 0
  -- So far ahead only when the clock was set back.
  if given > now + LIMIT.LOOP_WAIT_MS then given = now end
  local at = math.max(given, now - LIMIT.LOOP_SAVED_MS) + interval
  if at > now then warn(p, app, guarded, per_minute, now) end
  if at > now + LIMIT.LOOP_WAIT_MS then return nil end
  redis.call('SET', key, string.format('%.3f', at), 'PX', text(math.ceil(at - now) + LIMIT.LOOP_SAVED_MS))
  return math.max(now, math.ceil(at))
end

-- Whether the text of a refused job becomes a dead letter's original: a loop would fill Redis with them. The last that does
-- may be large.
local function may_keep(p, app, bytes, now)
  local key = KEY.loop_letters(p, app)
  local r = redis.call('HMGET', key, 'since', 'bytes')
  local since, kept = tonumber(r[1] or now), tonumber(r[2] or '0')
  if since > now or now - since >= LIMIT.LOOP_LETTERS_MS then since, kept = now, 0 end
  if kept >= LIMIT.LOOP_LETTERS_BYTES_MAX then return false end
  redis.call('HSET', key, 'since', text(since), 'bytes', text(kept + bytes + LIMIT.LETTER_BYTES_MIN))
  redis.call('PEXPIRE', key, 2 * LIMIT.LOOP_LETTERS_MS)
  return true
end

-- Counts a refused job whose text is not kept, in one dead letter of the app, which is replaced each time. When an operator
-- has dropped it the count begins anew.
local function count_unkept(p, app, priority, field, now)
  local key = KEY.loop_letters(p, app)
  local letter, count = redis.call('HGET', key, 'letter'), 1
  local items = letter and redis.call('XRANGE', KEY.dead(p), letter, letter) or {}
  if #items == 1 then
    count = (tonumber(fields_of(items[1][2]).count) or 0) + 1
    redis.call('XDEL', KEY.dead(p), letter)
  end
  letter = dead_letter(p, now, 'kind', 'job', 'reason', Loops.REASON, 'field', field, 'message',
    'So many further jobs were refused by the loop guard, and their texts are not kept: ' ..
    'those of this app that were refused within a day had too many bytes', 'app', app, 'id', '', 'priority', priority,
    'job_entry', '', 'job', '', 'truncated', '1', 'count', text(count))
  redis.call('HSET', key, 'letter', letter)
end

Loops.of_bucket = of_bucket
Loops.of_topic = of_topic
Loops.turn = turn
Loops.may_keep = may_keep
Loops.count_unkept = count_unkept

end
