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
