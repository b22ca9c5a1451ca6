-- The rules of an installation's fields, and the sentences that refuse them: those of Installation+JSON.swift and
-- FieldReader.swift. A test gives the same documents to both, and compares what they say. Limits, closed sets of words, the
-- networks and the rules for their tokens come from RULE, which is made of the constants of the program.

local Fields = {}  -- what later files use of it

do

-- Of Lua's library, which is not there yet when functions are loaded.
local find, sub

-- Ends the reading: where, as a JSON pointer, and why.
local function refuse(pointer, message)
  error({refusal = (pointer == '' and '' or pointer .. ': ') .. message})
end

local ESCAPED = {['~'] = '~0', ['/'] = '~1'}

local function pointer_to(name, parent)
  return (parent or '') .. '/' .. (string.gsub(Json.printable(name), '[~/]', ESCAPED))
end

-- ---------------------------------------------------------------------------------------------------------
-- Values by their form. Of each the usual case is decided first, for a function that is called for every login must be quick.

local function kind_of(value) return type(value) == 'table' and value.kind or 'a string' end

local function set_of(words)
  local set = {}
  for i = 1, #words do set[words[i]] = true end
  return set
end

-- The members of a document, each of a name that the set knows.
local function read_object(document, known, known_set)
  find, sub = string.find, string.sub
  local object = Json.read(document)
  if kind_of(object) ~= 'an object' then refuse('', 'must be an object, is ' .. kind_of(object)) end
  local names = object.names
  for i = 1, #names do
    if not known_set[names[i]] then
      local meant = NearestName.suggestion(names[i], known)
      refuse(pointer_to(names[i]), 'is not a known field; '
        .. (meant and 'did you mean "' .. meant .. '"?' or 'known here: ' .. table.concat(known, ', ')))
    end
  end
  return object.values
end

local function refuse_kind(name, wanted, value)
  local kind = kind_of(value)
  refuse('/' .. name, 'must be ' .. wanted .. ', is ' .. kind .. (kind == 'null' and ': leave the field out instead' or ''))
end

local function string_of(values, name)
  local value = values[name]
  if value and type(value) ~= 'string' then refuse_kind(name, 'a string', value) end
  return value
end

local function required(values, name, why)
  return string_of(values, name) or refuse('/' .. name, 'is missing: ' .. why)
end

-- 1 to bytes_max bytes without control characters: C0, DEL and C1.
local function check_text(value, bytes_max, pointer, name)
  if value ~= '' and #value <= bytes_max and not find(value, '[^ -~]') then return end
  pointer = pointer .. name
  if value == '' then refuse(pointer, 'must not be empty') end
  if #value > bytes_max then
    refuse(pointer, 'must be at most ' .. bytes_max .. ' bytes of UTF-8, is ' .. #value)
  end
  if find(value, '[%z\1-\31\127]') or find(value, '\194[\128-\159]') then
    refuse(pointer, 'must not hold control characters')
  end
end

local function text_of(values, name, bytes_max)
  local value = string_of(values, name)
  if value then check_text(value, bytes_max, '/', name) end
  return value
end

-- A word of 1 to bytes_max bytes without one of the foreign, a pattern.
local function word_of(values, name, foreign, marks, bytes_max)
  local value = string_of(values, name)
  if value and (value == '' or #value > bytes_max or find(value, foreign)) then
    refuse('/' .. name, 'must be 1 to ' .. bytes_max .. ' ASCII letters, digits or ' .. marks)
  end
  return value
end

local function choice_of(values, name, words, set)
  local value = string_of(values, name)
  if value and not set[value] then
    local meant = NearestName.suggestion(value, words)
    refuse('/' .. name, 'must be one of ' .. table.concat(words, ', ') .. ', is "' .. Json.printable(value) .. '"'
      .. (meant and '; did you mean "' .. meant .. '"?' or ''))
  end
  return value
end

-- The value of a number that was written as an integer from 0 to max, or nil.
local function whole(number, max)
  local value = find(number, '^-?[0-9]+$') and tonumber(number)
  -- What is left of -0 without its sign is 0.
  if value and value >= 0 and value <= max then return math.abs(value) end
end

-- ---------------------------------------------------------------------------------------------------------
-- Instants, as RFC3339.swift

local DAYS = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

local function days_in(month, year)
  local is_leap = year % 4 == 0 and year % 100 ~= 0 or year % 400 == 0
  return month == 2 and is_leap and 29 or DAYS[month]
end

-- Days of the proleptic Gregorian calendar, with years that begin in March.
local function days_since_epoch(year, month, day)
  local shifted = month > 2 and year or year - 1
  local era = math.floor(shifted / 400)
  local of_era = shifted - era * 400
  local of_year = math.floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end

-- Minutes east of UTC, or nil.
local function offset_of(zone)
  if zone == 'Z' or zone == 'z' then return 0 end
  local sign, hours, minutes = string.match(zone, '^([+-])([0-9][0-9]):([0-9][0-9])$')
  if not sign or tonumber(hours) > 23 or tonumber(minutes) > 59 then return nil end
  return (hours * 60 + minutes) * (sign == '-' and -1 or 1)
end

local RFC3339 = '^([0-9][0-9][0-9][0-9])-([0-9][0-9])-([0-9][0-9])[Tt ]'
  .. '([0-9][0-9]):([0-9][0-9]):([0-9][0-9])(.+)$'
local RFC3339_BYTES_MAX = 40  -- nanoseconds and an offset need 35

-- Epoch milliseconds, or nil for what is no such instant, or one before 1970.
local function ms_of(instant)
  if #instant > RFC3339_BYTES_MAX then return nil end
  local year, month, day, hour, minute, second, rest = string.match(instant, RFC3339)
  if not year then return nil end
  year, month, day, hour, minute, second = tonumber(year), tonumber(month), tonumber(day), tonumber(hour), tonumber(minute),
    tonumber(second)
  if month < 1 or month > 12 or day < 1 or day > days_in(month, year) or hour > 23 or minute > 59 or second > 60 then
    return nil
  end
  local fraction, zone = string.match(rest, '^%.([0-9]+)(.*)$')
  local offset = offset_of(zone or rest)
  if not offset then return nil end
  local minutes = (days_since_epoch(year, month, day) * 24 + hour) * 60 + minute - offset
  local ms = (minutes * 60 + second) * 1000 + tonumber(sub((fraction or '') .. '000', 1, 3))
  return ms >= 0 and ms or nil
end

local function instant_of(values, name)
  local value = values[name]
  if not value then return nil end
  local ms
  if kind_of(value) == 'a number' then
    ms = whole(value.text, RULE.instant_ms_max)
      or refuse('/' .. name, 'must be epoch milliseconds from 0 to ' .. text(RULE.instant_ms_max) .. ', is ' .. value.text)
  else
    if type(value) ~= 'string' then refuse_kind(name, 'epoch milliseconds or an RFC 3339 string', value) end
    ms = ms_of(value)
      or refuse('/' .. name, 'must be epoch milliseconds or an RFC 3339 instant such as 2026-11-21T09:30:00Z, is "'
        .. Json.printable(value) .. '"')
  end
  if ms < RULE.recent_instant_ms_min then
    refuse('/' .. name, 'is in the year 1973 or before, as epoch milliseconds: are these seconds?')
  end
  return ms
end

-- ---------------------------------------------------------------------------------------------------------
-- The fields of an installation

-- Redis leaves the classes of characters in the locale C: %w is ASCII only.
local FOREIGN = '[^%w._-]'
local FOREIGN_TO_IDS = '[^%w_-]'
local FOREIGN_TO_ZONES = '[^%w_+/:-]'

local NETWORKS, ENVIRONMENTS, KINDS = set_of(RULE.networks), set_of(RULE.environments), set_of(RULE.kinds)

local function app_of(values)
  local app = required(values, 'app', 'name the app of the configuration')
  if app == '' or #app > RULE.app_bytes_max or find(app, FOREIGN) then
    refuse('/app', 'must be 1 to ' .. RULE.app_bytes_max .. ' ASCII letters, digits or . _ -')
  end
  return app
end

local function user_of(values, why)
  local user = required(values, 'user', why or 'an installation belongs to a user')
  check_text(user, RULE.user_bytes_max, '/', 'user')
  return user
end

local function network_of(values)
  return choice_of(values, 'network', RULE.networks, NETWORKS) or refuse('/network', 'is missing: ' .. RULE.any_network)
end

-- The token as it is stored. A sentence does not repeat it: it is as good as an address.
local function token_of(values, network)
  local token = required(values, 'token', 'the device token of the network')
  local rule = RULE.tokens[network]
  if #token < rule.min or #token > rule.max then
    refuse('/token', rule.owner .. ' token must be ' .. rule.min .. ' to ' .. rule.max .. ' characters, is ' .. #token)
  end
  for i = 1, #rule.checks do
    local check = rule.checks[i]
    if check.wanted and not find(token, check.wanted) or check.unwanted and find(token, check.unwanted)
      or check.is_even and #token % 2 ~= 0 then
      refuse('/token', check.sentence)
    end
  end
  return rule.is_lowercased and string.lower(token) or token
end

local function badge_of(values)
  local value = values.badge
  if not value then return nil end
  if kind_of(value) ~= 'a number' then refuse_kind('badge', 'an integer', value) end
  local badge = whole(value.text, RULE.badge_max)
    or refuse('/badge', 'must be an integer from 0 to ' .. RULE.badge_max .. ', is ' .. value.text)
  return text(badge)
end

-- Their names, each once, with a newline between two; nil when they are not named.
local function channels_of(values)
  local value = values.channels
  if not value then return nil end
  if kind_of(value) ~= 'an array' then refuse_kind('channels', 'an array', value) end
  if #value.items > RULE.channels_max then
    refuse('/channels', 'must be at most ' .. RULE.channels_max .. ' names, are ' .. #value.items)
  end
  local names, seen = {}, {}
  for i, name in ipairs(value.items) do
    if type(name) ~= 'string' then refuse('/channels/' .. (i - 1), 'must be a string, is ' .. kind_of(name)) end
    check_text(name, RULE.channel_bytes_max, '/channels/', i - 1)
    if not seen[name] then names[#names + 1], seen[name] = name, true end
  end
  return table.concat(names, '\n')
end

-- Its fields as (name, value)….
local function custom_of(values)
  local list, custom = {}, values.custom
  if not custom then return list end
  -- PHP writes an empty map as an empty array.
  if kind_of(custom) == 'an array' and #custom.items == 0 then return list end
  if kind_of(custom) ~= 'an object' then refuse_kind('custom', 'an object', custom) end
  if #custom.names > RULE.custom_fields_max then
    refuse('/custom', 'must be at most ' .. RULE.custom_fields_max .. ' fields, are ' .. #custom.names)
  end
  for _, name in ipairs(custom.names) do
    local value = custom.values[name]
    if name == '' or #name > RULE.custom_name_bytes_max or find(name, FOREIGN) then
      refuse(pointer_to(name, '/custom'),
        'the name must be 1 to ' .. RULE.custom_name_bytes_max .. ' ASCII letters, digits or . _ -')
    end
    if type(value) ~= 'string' then refuse(pointer_to(name, '/custom'), 'must be a string, is ' .. kind_of(value)) end
    if #value > RULE.custom_value_bytes_max then
      refuse(pointer_to(name, '/custom'), 'must be at most ' .. RULE.custom_value_bytes_max .. ' bytes, is ' .. #value)
    end
    list[#list + 1], list[#list + 2] = 'custom.' .. name, value
  end
  return list
end

-- The fields that are kept beside the columns of the row, behind it. Returns where the last one ends.
local function add_fields(row, values)
  local last = Bindings.COLUMNS
  for i = 1, #RULE.texts do
    local name = RULE.texts[i].name
    if values[name] then
      row[last + 1], row[last + 2], last = name, text_of(values, name, RULE.texts[i].bytes_max), last + 2
    end
  end
  local zone = word_of(values, 'time_zone', FOREIGN_TO_ZONES, '_ + - / :', RULE.time_zone_bytes_max)
  if zone then row[last + 1], row[last + 2], last = 'time_zone', zone, last + 2 end
  local language = word_of(values, 'language', FOREIGN_TO_IDS, '- _', RULE.language_bytes_max)
  if language then row[last + 1], row[last + 2], last = 'language', language, last + 2 end
  local badge = badge_of(values)
  if badge then row[last + 1], row[last + 2], last = 'badge', badge, last + 2 end
  local channels = channels_of(values)
  if channels then row[last + 1], row[last + 2], last = 'channels', channels, last + 2 end
  return last
end

local INSTALLATION, UNINSTALL, DEVICES, SUBSCRIPTION = set_of(RULE.fields.installation), set_of(RULE.fields.uninstall),
  set_of(RULE.fields.devices), set_of(RULE.fields.subscription)

-- The row of the installation that a document is, as Bindings.bind takes it, its fields behind it.
-- Raises {refusal = …}, and looks at the fields in the order in which the program does.
function Fields.installation(document)
  local values = read_object(document, RULE.fields.installation, INSTALLATION)
  local app, user, network = app_of(values), user_of(values), network_of(values)
  local token = token_of(values, network)
  local environment = choice_of(values, 'environment', RULE.environments, ENVIRONMENTS) or 'production'
  local object_id = word_of(values, 'object_id', FOREIGN_TO_IDS, '_ -', RULE.object_id_bytes_max) or ''
  local row = {app, network, token, user, environment, '', object_id, '', '', 0}
  local last = add_fields(row, values)
  if values.created_at then row[8] = text(instant_of(values, 'created_at')) end
  if values.updated_at then row[9] = text(instant_of(values, 'updated_at')) end
  for _, word in ipairs(custom_of(values)) do
    last = last + 1
    row[last] = word
  end
  row[10] = (last - Bindings.COLUMNS) / 2
  local kind = choice_of(values, 'kind', RULE.kinds, KINDS) or 'alert'
  if kind ~= 'alert' and network ~= 'apns' then
    refuse('/kind', 'must be left out for ' .. network .. ': only tokens of APNs have kinds')
  end
  if kind ~= 'alert' then row[6] = kind end
  return row
end

-- What an uninstall names: app, network, token, and the user or ''.
function Fields.uninstall(document)
  local values = read_object(document, RULE.fields.uninstall, UNINSTALL)
  local app, network = app_of(values), network_of(values)
  return {app, network, token_of(values, network), values.user and user_of(values) or ''}
end

-- Whose devices are asked for: app and user.
function Fields.devices(document)
  local values = read_object(document, RULE.fields.devices, DEVICES)
  return {app_of(values), user_of(values)}
end

-- Who subscribes to what: app, topic and user.
function Fields.subscription(document)
  local values = read_object(document, RULE.fields.subscription, SUBSCRIPTION)
  local app = app_of(values)
  local topic = word_of(values, 'topic', FOREIGN_TO_IDS, '_ -', RULE.topic_bytes_max)
    or refuse('/topic', 'is missing: name the topic')
  return {app, topic, user_of(values, 'name who subscribes')}
end

end
