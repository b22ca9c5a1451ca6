-- Metrics: the outcomes of the fleet by the minute, as dashboards read them: whatever a record counts, they count. The
-- network of users whose installations were never read is 'none'.

local Metrics = {}  -- what later files use of it

do

-- Counts outcomes, n x (network, outcome, count) in a row, in the minute of `now`. Never raises: dashboards must not be
-- able to stop the work.
local function count(p, app, counts, now)
  local key, is_any = KEY.metrics(p, minute_of(now)), false
  for i = 1, #counts, 3 do
    local n = tonumber(counts[i + 2])
    if n ~= 0 then
      redis.pcall('HINCRBY', key, app .. '|' .. counts[i] .. '|' .. counts[i + 1], text(n))
      is_any = true
    end
  end
  if is_any then redis.pcall('EXPIRE', key, LIMIT.METRICS_S) end
end

-- Counts one outcome for every line of a segment that is not done. A line of an installation begins with its network and
-- a tab, which no user id has.
local function count_lines(p, app, segment, done, outcome, now)
  local found, counts, index = {}, {}, 0
  for line in string.gmatch(segment, '[^\n]+') do
    local byte = string.byte(done, math.floor(index / 8) + 1) or 0
    if math.floor(byte / 2 ^ (7 - index % 8)) % 2 == 0 then
      local network = string.match(line, '^(%l+)\t') or 'none'
      found[network] = (found[network] or 0) + 1
    end
    index = index + 1
  end
  for network, n in pairs(found) do
    counts[#counts + 1], counts[#counts + 2], counts[#counts + 3] = network, outcome, n
  end
  count(p, app, counts, now)
end

Metrics.count = count
Metrics.count_lines = count_lines

end
