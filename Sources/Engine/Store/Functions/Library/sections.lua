-- Sections: the arguments of a function that takes more than eight. ARGV[1] says which sections follow, and how many rows each
-- has: `chunk:1 progress:1 counts:3`. Then come the rows, section after section. A row has the columns that stand above the
-- function, so a count that is wrong does not add up. A section without rows is left out. Sections.swift is the twin.

local Sections = {}  -- what later files use of it

do

local layouts = {}

-- What a section that is left out begins and ends with: a loop over its rows ends at once.
local NO_FIRST = {__index = function() return 1 end}
local NO_LAST = {__index = function() return 0 end}

local function refuse(message) error({err = 'SECTIONS ' .. message}) end

-- Says how many columns the sections of a function have, and which of them have one row.
local function layout(name, columns, singles)
  layouts[name] = {name = name, columns = columns, singles = singles, places = {}, known = 0}
  return layouts[name]
end

-- Where the rows of each section begin and end, as ARGV[1] has it, and at which argument the last ends.
local function places_of(header, of)
  local first, last, at = setmetatable({}, NO_FIRST), setmetatable({}, NO_LAST), 2
  for section, rows in string.gmatch(header, '([^%s:]+):(%d+)') do
    local width = of.columns[section]
    if not width then refuse(of.name .. ' has no section "' .. section .. '"') end
    if rawget(first, section) then refuse(of.name .. ' was given the section "' .. section .. '" twice') end
    first[section], at = at, at + rows * width
    last[section] = at - 1
  end
  for _, section in ipairs(of.singles) do
    if last[section] - first[section] + 1 ~= of.columns[section] then
      refuse(of.name .. ' needs one row of the section "' .. section .. '"')
    end
  end
  return {first = first, last = last, fields = at - 2}
end

-- Where in args the rows of each section begin and end: two tables, by the section's name. Raises what does not add up; it
-- is called before anything is written.
local function read(args, of)
  local header = args[1] or ''
  local places = of.places[header]
  if not places then
    places = places_of(header, of)
    -- Callers say the same time and again, and to take it apart costs a settlement a twentieth.
    if of.known == LIMIT.HEADERS_KNOWN_MAX then of.places, of.known = {}, 0 end
    of.places[header], of.known = places, of.known + 1
  end
  if places.fields ~= #args - 1 then
    refuse(of.name .. ' was given ' .. text(#args - 1) .. ' fields, and "' .. header .. '" has ' .. text(places.fields))
  end
  return places.first, places.last
end

-- sections — ARGV: a function's name, then its arguments. Reply: (section, rows)…, by name; for the test beside
-- Sections.swift
local function count(_, args)
  local of = layouts[args[1]] or refuse('the function ' .. tostring(args[1]) .. ' takes no sections')
  local names, reply = {}, {}
  for section in pairs(of.columns) do names[#names + 1] = section end
  table.sort(names)
  local first, last = read({unpack(args, 2)}, of)
  for _, section in ipairs(names) do
    reply[#reply + 1] = section
    reply[#reply + 1] = (last[section] - first[section] + 1) / of.columns[section]
  end
  return reply
end

register('sections', count, {'no-writes'})

Sections.layout = layout
Sections.read = read

end
