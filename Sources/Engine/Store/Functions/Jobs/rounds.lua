-- Rounds: a job that is to reach people by their own clocks starts once for each instant at which those show the time
-- somewhere, and reads its audience anew each time.
--
-- The segments of a round are called <n>@<round>, and what becomes of them r<n>@<round> and u<n>@<round>: so whoever has a chunk
-- knows for which time zones it is. A job that names its recipients keeps them as segments without a round, of which each
-- round's are copies.
--
-- In the job's record: `rounds` the instants (ms) with spaces between; `round` the number of the one that is under way or comes next,
-- from 0 on; `round_at` its instant; `base` and `base_recipients` how many segments the job keeps, and lines in them. Where a round has been
-- read and another comes, `scan` is 'round'; where one comes that has not been begun, it is 'next'.

local Rounds = {}  -- what later files use of it

do

local READ, NEXT = 'round', 'next'

-- A segment's name in a round; nil stands for the only one.
local function name(segment, round) return round and segment .. '@' .. round or segment end

-- The round of a segment, or nil.
local function of(segment) return string.match(segment, '@(%d+)$') end

-- The instant of a round; nil when there is none.
local function instant(rounds, round)
  local n = 0
  for ms in string.gmatch(rounds, '%d+') do
    if n == round then return ms end
    n = n + 1
  end
  return nil
end

-- What a job is admitted with; fields and values of its record.
local function begin(rounds, start_at)
  return {'rounds', rounds, 'round', '0', 'round_at', start_at}
end

-- Whether another round comes behind the one that has been read.
local function has_next(record)
  local r = redis.call('HMGET', record, 'rounds', 'round')
  return r[1] and instant(r[1], tonumber(r[2]) + 1) ~= nil
end

-- Goes to the next round. Returns its number and its instant.
local function advance(record)
  local r = redis.call('HMGET', record, 'rounds', 'round')
  local round = tonumber(r[2]) + 1
  local at = instant(r[1], round)
  redis.call('HSET', record, 'round', text(round), 'round_at', at, 'scan', NEXT)
  redis.call('HDEL', record, 'unread')
  return text(round), tonumber(at)
end

-- Drops the segments that a job keeps.
local function drop_kept(p, source, base)
  for from = 1, base, LIMIT.WORDS_MAX do
    local keys = {}
    for n = from, math.min(from + LIMIT.WORDS_MAX - 1, base) do keys[#keys + 1] = KEY.segment(p, text(n), source) end
    redis.call('UNLINK', unpack(keys))
  end
end

Rounds.READ = READ
Rounds.drop_kept = drop_kept
Rounds.name = name
Rounds.of = of
Rounds.begin = begin
Rounds.has_next = has_next
Rounds.advance = advance

end
