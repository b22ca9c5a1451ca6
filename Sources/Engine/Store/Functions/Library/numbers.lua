-- Times and numbers as they are stored.

local function now_ms()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- Decimal text of a whole number (Lua's own conversion turns to exponents).
local function text(n) return string.format('%.0f', n) end
