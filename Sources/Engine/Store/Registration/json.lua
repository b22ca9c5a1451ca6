-- Reads a JSON document (RFC 8259) as strictly as JSONScanner.swift, and says in the same words what is wrong where. cjson is
-- no judge of what a stranger sends: it takes NaN, hexadecimal and leading zeros, keeps the last of two members of one name,
-- and does not tell 1.0 from 1 nor [] from {}. What it is good at, it does here: the escapes of a string.

local Json = {}  -- what later files use of it

do

-- Of Lua's library, which is not there yet when functions are loaded.
local byte, find, match, sub

-- The document, the place of the next byte, and how many values may still come.
local json, at, values_left
-- The document with every escape covered up, when it was needed, and whether there are any. What an escape says, a quote or the
-- backslash that comes before one, ends no string.
local covered, has_escapes

-- What is wrong with the encoding of a text, by its first bytes, as EncodingMistake.swift; nil where it is not to blame.
local function encoding_mistake(document)
  local function begins(pattern) return string.find(document, '^' .. pattern) end
  if begins('\239\187\191') then return 'a byte order mark stands before the text; leave it out' end
  local name
  if begins('%z%z\254\255') or begins('\255\254%z%z') or begins('%z%z%z[^%z]') or begins('[^%z]%z%z%z') then
    name = 'UTF-32'
  elseif begins('\254\255') or begins('\255\254') or begins('%z[^%z]%z[^%z]') or begins('[^%z]%z[^%z]%z') then
    name = 'UTF-16'
  end
  return name and 'the text is in ' .. name .. '; write it in UTF-8'
end

-- Ends the reading; the offset counts bytes from 0.
local function refuse(place, message)
  error({refusal = 'not valid JSON at byte ' .. text(place - 1) .. ': ' .. message})
end

-- Ends the reading of a text that is no JSON.
local function fail(place, message)
  local mistake = encoding_mistake(json)
  if mistake then refuse(1, mistake) end
  refuse(place, message)
end

-- ---------------------------------------------------------------------------------------------------------
-- UTF-8: a state is a table of the states that follow, by the next byte.

local function follow(state, low, high)
  local states = {}
  for b = low, high do states[b] = state end
  return states
end

local START = {}
local ONE = follow(START, 128, 191)
local TWO = follow(ONE, 128, 191)
local THREE = follow(TWO, 128, 191)
for b = 0, 127 do START[b] = START end
for b = 194, 223 do START[b] = ONE end
for b = 225, 239 do START[b] = TWO end
START[224], START[237] = follow(ONE, 160, 191), follow(ONE, 128, 159)
START[240], START[244] = follow(TWO, 144, 191), follow(TWO, 128, 143)
for b = 241, 243 do START[b] = THREE end

local PAGE = 100  -- bytes that are looked at together: a call may return a few thousand values at most

local function is_utf8(s)
  local first, state = find(s, '[\128-\255]'), START
  while first and first <= #s do
    local bytes = {byte(s, first, first + PAGE - 1)}
    for i = 1, #bytes do
      state = state[bytes[i]]
      if not state then return false end
    end
    first = first + PAGE
    if state == START then first = find(s, '[\128-\255]', first) end
  end
  return state == START
end

-- ---------------------------------------------------------------------------------------------------------
-- Strings

-- The 16 bits of the escape \uXXXX at a place, or nil.
local function unit_at(place)
  local digits = match(json, '^\\u([0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f])', place)
  return digits and tonumber(digits, 16)
end

local NO_UNIT = '\\u needs four hexadecimal digits'
local LONE_HIGH = 'a high surrogate stands alone'

-- Ends the reading at the first wrong escape between two places.
local function fail_at_escape(first, last)
  -- There may be tens of thousands: those of two bytes that are right are passed over at once.
  local others = string.gsub(sub(json, first, last), '\\["\\/bfnrt]', '__')
  local found = find(others, '\\', 1, true)
  while found do
    local place = first + found - 1
    local letter = sub(json, place + 1, place + 1)
    if letter == '' then fail(place, 'ends within a string') end
    if letter ~= 'u' then fail(place, 'there is no such escape in JSON') end
    local unit = unit_at(place) or fail(place, NO_UNIT)
    if unit >= 0xDC00 and unit <= 0xDFFF then fail(place, 'a low surrogate stands alone') end
    local after = place + 6
    if unit >= 0xD800 and unit <= 0xDBFF then
      if sub(json, after, after + 1) ~= '\\u' then fail(after, LONE_HIGH) end
      local second = unit_at(after) or fail(after, NO_UNIT)
      if second < 0xDC00 or second > 0xDFFF then fail(after, LONE_HIGH) end
      after = after + 6
    end
    found = find(others, '\\', after - first + 1, true)
  end
end

-- The string whose opening quote is next.
local function read_string()
  local quote, first = at, at + 1
  if not covered then
    has_escapes = find(json, '\\', 1, true)
    covered = has_escapes and string.gsub(json, '\\.', '__') or json
  end
  local stop = find(covered, '["%z\1-\31]', first)
  local last = (stop or #json + 1) - 1
  local content = sub(json, first, last)
  if has_escapes and find(content, '\\', 1, true) then
    local is_read, list = pcall(cjson.decode, '["' .. content .. '"]')
    if not is_read or not stop then fail_at_escape(first, last) end
    content = is_read and list[1] or fail(quote, 'a string cannot be read')
  end
  if not stop then fail(#json + 1, 'ends within a string') end
  if byte(json, stop) ~= 34 then fail(stop, 'a control character in a string must be escaped') end
  if not is_utf8(content) then fail(quote, 'a string is not valid UTF-8') end
  at = stop + 1
  return content
end

-- ---------------------------------------------------------------------------------------------------------
-- Numbers

-- The place behind the digits that begin at a place.
local function behind_digits(place)
  local _, last = find(json, '^[0-9]+', place)
  return (last or fail(place, 'a digit should be here')) + 1
end

-- The text of the number that is next.
local function read_number()
  local place = at
  if byte(json, place) == 45 then place = place + 1 end
  if byte(json, place) == 48 then
    place = place + 1
    if find(json, '^[0-9]', place) then fail(place, 'a number begins with one zero') end
  else
    place = behind_digits(place)
  end
  if byte(json, place) == 46 then place = behind_digits(place + 1) end
  if find(json, '^[eE]', place) then
    local _, last = find(json, '^[eE][+-]?', place)
    place = behind_digits(last + 1)
  end
  if place - at > RULE.number_bytes_max then
    fail(place, 'a number is longer than ' .. RULE.number_bytes_max .. ' characters')
  end
  local number = sub(json, at, place - 1)
  at = place
  return number
end

-- ---------------------------------------------------------------------------------------------------------
-- Values. A string is read as itself, anything else as a table with its kind, in the words of a refusal: a number also has its
-- text, an array its items, an object its values by name and the names in their order.

local NULL, TRUE, FALSE = {kind = 'null'}, {kind = 'a boolean'}, {kind = 'a boolean'}

local read_value

local function skip_space() at = find(json, '[^ \n\r\t]', at) or #json + 1 end

local function open(depth)
  if depth > RULE.depth_max then fail(at, 'is nested deeper than ' .. RULE.depth_max .. ' levels') end
  at = at + 1
  skip_space()
end

local function read_array(depth)
  local items, n = {}, 0
  open(depth)
  if byte(json, at) == 93 then
    at = at + 1
    return {kind = 'an array', items = items}
  end
  while true do
    skip_space()
    n = n + 1
    items[n] = read_value(depth)
    skip_space()
    local mark = byte(json, at)
    if not mark then fail(at, 'ends within an array') end
    if mark ~= 44 and mark ~= 93 then fail(at, 'an array goes on with a comma or ends with ]') end
    at = at + 1
    if mark == 93 then return {kind = 'an array', items = items} end
  end
end

-- The usual member: a plain name, a string of printable ASCII without escapes, and what follows. It is found by one pattern, for
-- a document is mostly these. The brackets hold ] to ~, # to [, the space and the exclamation mark.
local USUAL = '^"([a-z_]+)"[ \n\r\t]*:[ \n\r\t]*"([]-~#-[ !]*)"[ \n\r\t]*([,}])[ \n\r\t]*()'

-- Any other member: its name, its value, and what follows.
local function read_member(depth, values)
  local start = at
  if byte(json, at) ~= 34 then fail(at, "a member's name in quotes should begin here") end
  local name = read_string()
  skip_space()
  if byte(json, at) ~= 58 then fail(at, "a colon should follow a member's name") end
  at = at + 1
  skip_space()
  local value = read_value(depth)
  if values[name] then fail(start, '"' .. Json.printable(name) .. '" occurs twice in one object') end
  skip_space()
  local mark = sub(json, at, at)
  if mark == '' then fail(at, 'ends within an object') end
  if mark ~= ',' and mark ~= '}' then fail(at, 'an object goes on with a comma or ends with }') end
  at = at + 1
  return name, value, mark
end

local function read_object(depth)
  local names, values, n = {}, {}, 0
  open(depth)
  if byte(json, at) == 125 then
    at = at + 1
    return {kind = 'an object', names = names, values = values}
  end
  while true do
    local name, value, mark, after = match(json, USUAL, at)
    -- The last value and a repeated name are left to the function that says what is wrong.
    if name and values_left > 0 and not values[name] then
      values_left, at = values_left - 1, after
    else
      name, value, mark = read_member(depth, values)
      if mark == ',' then skip_space() end
    end
    n = n + 1
    names[n], values[name] = name, value
    if mark == '}' then return {kind = 'an object', names = names, values = values} end
  end
end

local function read_word(word, value)
  if sub(json, at, at + #word - 1) ~= word then fail(at, 'should be "' .. word .. '"') end
  at = at + #word
  return value
end

function read_value(depth)
  local mark = byte(json, at)
  if not mark then fail(at, 'ends where a value should be') end
  values_left = values_left - 1
  if values_left < 0 then fail(at, 'holds too many values') end
  if mark == 34 then return read_string() end
  if mark == 123 then return read_object(depth + 1) end
  if mark == 91 then return read_array(depth + 1) end
  if mark == 45 or (mark >= 48 and mark <= 57) then return {kind = 'a number', text = read_number()} end
  if mark == 116 then return read_word('true', TRUE) end
  if mark == 102 then return read_word('false', FALSE) end
  if mark == 110 then return read_word('null', NULL) end
  fail(at, 'a value should begin here')
end

-- The value that a document of at most RULE.document_bytes_max bytes is.
-- Raises {refusal = …} for what is no JSON, or beyond a limit.
function Json.read(document)
  byte, find, match, sub = string.byte, string.find, string.match, string.sub
  json, covered, at, values_left = document, nil, 1, RULE.values_max
  if #json > RULE.document_bytes_max then
    refuse(RULE.document_bytes_max + 1,
      'is ' .. #json .. ' bytes long, at most ' .. RULE.document_bytes_max .. ' are read')
  end
  if json == '' then refuse(1, 'is empty') end
  skip_space()
  local value = read_value(0)
  skip_space()
  if at <= #json then fail(at, 'there is more after the end of the value') end
  return value
end

Json.encoding_mistake = encoding_mistake

-- A text cut to a bounded length, without control characters: safe in a log line. As FieldPointer.printable.
-- It may be called before anything was read.
function Json.printable(name)
  local pieces, bytes = {}, 0
  for scalar in string.gmatch(name, '[%z\1-\127\192-\255][\128-\191]*') do
    if bytes >= RULE.quoted_bytes_max then
      pieces[#pieces + 1] = '\226\128\166'
      break
    end
    if string.find(scalar, '^[%z\1-\31\127]') or string.find(scalar, '^\194[\128-\159]') then scalar = '\239\191\189' end
    pieces[#pieces + 1], bytes = scalar, bytes + #scalar
  end
  return table.concat(pieces)
end

end
