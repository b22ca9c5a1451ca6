-- Metrics: the outcomes of the fleet by the minute, and in all since the totals began: whatever a record counts, they count. The
-- network of users whose installations were never read is 'none'.

local Metrics = {}  -- what later files use of it

do

-- A name without a `|` in the totals is no count. Its text is longer than Redis keeps in a compact encoding, in which each count
-- would be looked for among all others.
local ABOUT = 'outcomes by app|network|outcome; since is epoch milliseconds; a count falls only when this key is deleted'

-- A count is there for the first time: perhaps the totals begin with it.
local function begin_totals(key, now)
  redis.pcall('HSETNX', key, 'since', text(now))
  redis.pcall('HSETNX', key, 'about', ABOUT)
end

-- Counts outcomes, n x (network, outcome, count) in a row, in the minute of `now` and in the totals. What is taken back is taken
-- from the minute alone: a total never falls. Never raises: dashboards must not be able to stop the work.
local function count(p, app, counts, now)
  local minute, totals, is_new = KEY.metrics(p, minute_of(now)), KEY.totals(p), false
  for i = 1, #counts, 3 do
    local n = tonumber(counts[i + 2])
    if n ~= 0 then
      local name, by = app .. '|' .. counts[i] .. '|' .. counts[i + 1], text(n)
      -- Such a minute may be new, too, and have no end yet.
      if redis.pcall('HINCRBY', minute, name, by) == n then is_new = true end
      if n > 0 and redis.pcall('HINCRBY', totals, name, by) == n then begin_totals(totals, now) end
    end
  end
  if is_new then redis.pcall('EXPIRE', minute, LIMIT.METRICS_S) end
end

-- Counts one outcome for every line of a segment that is not done, which are `open`. A line of an installation begins with
-- its network and a tab, which no user id has.
local function count_lines(p, app, segment, done, open, outcome, now)
  if not string.find(segment, '\t', 1, true) then return count(p, app, {'none', outcome, open}, now) end
  local find, match, floor = string.find, string.match, math.floor
  local found, counts, index, first = {}, {}, 0, 1
  while first <= #segment do
    local byte = string.byte(done, floor(index / 8) + 1) or 0
    if byte == 0 or floor(byte / 2 ^ (7 - index % 8)) % 2 == 0 then
      local network = match(segment, '^(%l+)\t', first) or 'none'
      found[network] = (found[network] or 0) + 1
    end
    index, first = index + 1, (find(segment, '\n', first, true) or #segment) + 1
  end
  for network, n in pairs(found) do
    counts[#counts + 1], counts[#counts + 2], counts[#counts + 3] = network, outcome, n
  end
  count(p, app, counts, now)
end

Metrics.count = count
Metrics.count_lines = count_lines

end
