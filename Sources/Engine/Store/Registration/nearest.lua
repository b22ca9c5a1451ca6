-- What somebody meant to write, as NearestName.swift finds it.

local NearestName = {}  -- what later files use of it

do

local function folded(name) return string.lower((string.gsub(name, '[_-]', ''))) end

-- Insertions, deletions, substitutions and swaps of neighbours.
local function distance_of(one, other)
  if one == '' or other == '' then return math.max(#one, #other) end
  local sub = string.sub
  local before_last, last = {}, {}
  for j = 0, #other do before_last[j], last[j] = 0, j end
  for i = 1, #one do
    local row = {[0] = i}
    for j = 1, #other do
      local cost = sub(one, i, i) == sub(other, j, j) and 0 or 1
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
      if i > 1 and j > 1 and sub(one, i, i) == sub(other, j - 1, j - 1) and sub(one, i - 1, i - 1) == sub(other, j, j) then
        row[j] = math.min(row[j], before_last[j - 2] + 1)
      end
    end
    before_last, last = last, row
  end
  return last[#other]
end

local GUESSED_MAX = 3  -- edits between what is written and what is meant

-- Whether it is what is left of the other one without some of its letters.
local function is_left_over(one, other)
  local sub, i = string.sub, 1
  for j = 1, #other do
    if sub(one, i, i) == sub(other, j, j) then i = i + 1 end
  end
  return i > #one
end

-- The known name nearest to a name, or nil when none is near enough to be a guess.
function NearestName.suggestion(name, known)
  local sub = string.sub
  local written = sub(name, 1, RULE.quoted_bytes_max)
  local letters, best, nearest, best_rank = folded(written), nil, math.huge, math.huge
  for _, candidate in ipairs(known) do
    local wanted, distance = folded(candidate), math.huge
    if math.abs(#wanted - #letters) <= GUESSED_MAX then distance = distance_of(letters, wanted) end
    if #written >= 3 and sub(candidate, 1, #written) == written then distance = math.min(distance, 1) end
    -- Of two that are as near, the one of which letters were left out.
    local rank = 2 * distance - (is_left_over(letters, wanted) and 1 or 0)
    if rank < best_rank then best, nearest, best_rank = candidate, distance, rank end
  end
  if nearest <= math.max(1, math.min(GUESSED_MAX, math.floor(#written / 2))) then return best end
end

end
