-- What any Redis client registers devices with (docs/reference/installations.md):
--
--   FCALL <function> 2 <prefix> <prefix>:guard <JSON object>
--
-- KEYS[1] is the key prefix. KEYS[2] may be left out where there is no cluster: guard.lua. ARGV[1] and the reply are JSON, as they stand above each function. A refusal is the error
-- INVALID, with the field and the rule that it breaks; it has changed nothing. Every call is one step, and may be repeated.
--
-- These names never change, so this library is one for all versions and prefixes: RegistrationLibrary.swift.

do

-- The function that reads its document with one function and answers with another, which may write.
local function register(name, read, answer, flags)
  local function call(keys, args)
    local refusal = Guard.refusal(name, keys, 'one argument, a JSON object')
    if refusal then return redis.error_reply('INVALID ' .. refusal) end
    if #args ~= 1 then return redis.error_reply('INVALID ' .. name .. ' takes one argument beside its keys, a JSON object') end
    local is_read, request = pcall(read, args[1])
    if is_read then
      local elsewhere = Guard.elsewhere(keys[1], request[1])
      if elsewhere then return redis.error_reply('INVALID ' .. elsewhere) end
      return answer(keys[1], request)
    end
    if type(request) == 'table' and request.refusal then return redis.error_reply('INVALID ' .. request.refusal) end
    error(request)
  end
  redis.register_function{function_name = name, callback = call, flags = flags}
end

local function bind(p, row, strict)
  local status, object_id = Bindings.bind(p, row, 1, Bindings.COLUMNS + 1, now_ms(), strict)
  return '{"status":"' .. status .. '","object_id":' .. cjson.encode(object_id) .. '}'
end

-- pushpool_install — ARGV: an installation. The last installer wins.
-- Reply: {"status": created|updated|moved, "object_id"}
local function install(p, row) return bind(p, row, false) end

-- pushpool_create — ARGV: as pushpool_install. A token that is installed already is not touched.
-- Reply: {"status": created|conflict, "object_id"}, that of the existing one when it is a conflict
local function create(p, row) return bind(p, row, true) end

-- pushpool_uninstall — ARGV: {"app", "network", "token", "user"?}. With a user only that user's binding is removed.
-- Reply: {"status": removed|absent|other_owner}
local function uninstall(p, request)
  return '{"status":"' .. Bindings.release(p, unpack(request, 1, 4)) .. '"}'
end

-- The fields of bounded length beside the user: words and numbers.
local SHORT = {
  'environment', 'kind', 'object_id', 'device_type', 'app_name', 'app_version', 'os_version', 'sdk_version', 'time_zone',
  'language', 'badge', 'created_at', 'updated_at',
}
local NUMBERS = {badge = true, created_at = true, updated_at = true}

-- The fields of a token's record by name, and their bytes. In short they are those of bounded length, without channels and
-- custom fields.
local function record_of(key, in_short)
  local record, bytes = {}, 0
  if in_short then
    local values = redis.call('HMGET', key, 'user', unpack(SHORT))
    record.user = values[1] or nil
    for i, name in ipairs(SHORT) do record[name] = values[i + 1] or nil end
    return record, 0
  end
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do
    record[flat[i]] = flat[i + 1]
    bytes = bytes + #flat[i] + #flat[i + 1]
  end
  return record, bytes
end

-- An installation as it is imported.
local function installation(app, network, token, record, in_short)
  local quoted = cjson.encode
  local members = {
    '"app":' .. quoted(app), '"user":' .. quoted(record.user), '"network":"' .. network .. '"', '"token":' .. quoted(token),
  }
  local function add(name, value) members[#members + 1] = '"' .. name .. '":' .. value end
  for _, name in ipairs(SHORT) do
    local value = record[name]
    if value and not NUMBERS[name] then
      add(name, quoted(value))
    elseif value and string.find(value, '^[0-9]+$') then
      add(name, value)
    end
  end
  if record.channels then
    local channels = {}
    for name in string.gmatch(record.channels, '[^\n]+') do channels[#channels + 1] = quoted(name) end
    if #channels > 0 then add('channels', '[' .. table.concat(channels, ',') .. ']') end
  end
  local custom = {}
  for name, value in pairs(record) do
    if string.sub(name, 1, 7) == 'custom.' then
      custom[#custom + 1] = quoted(string.sub(name, 8)) .. ':' .. quoted(value)
    end
  end
  if #custom > 0 then add('custom', '{' .. table.concat(custom, ',') .. '}') end
  if in_short then add('truncated', 'true') end
  return '{' .. table.concat(members, ',') .. '}'
end

-- pushpool_devices — ARGV: {"app", "user"}.
-- Reply: [installation…], in the order of their last install. What is behind RULE.answer_bytes_max bytes of tokens and records
-- comes without channels and custom fields, and says "truncated": true.
local function devices(p, request)
  local app, user = unpack(request)
  local list, bytes, start = {}, 0, 1
  local lines = redis.call('GET', KEY.user(p, app, user)) or ''
  local stop = string.find(lines, '\n', 1, true)
  while stop do
    local network, first = string.match(lines, '^([^\t.\n]*)[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t()', start)
    if network then
      local token, in_short = string.sub(lines, first, stop - 1), bytes > RULE.answer_bytes_max
      local record, more = record_of(KEY.token(p, network, app, token), in_short)
      bytes = bytes + #token + more
      if record.user then list[#list + 1] = installation(app, network, token, record, in_short) end
    end
    start = stop + 1
    stop = string.find(lines, '\n', start, true)
  end
  return '[' .. table.concat(list, ',') .. ']'
end

-- pushpool_subscribe — ARGV: {"app", "topic", "user"}. The user need not have a device.
-- Reply: {"status": subscribed|unchanged}
local function subscribe(p, request)
  local app, topic, user = unpack(request)
  return '{"status":"' .. (Index.add(p, app, Index.of_topic(topic), user) and 'subscribed' or 'unchanged') .. '"}'
end

-- pushpool_unsubscribe — ARGV: as pushpool_subscribe.
-- Reply: {"status": unsubscribed|absent}
local function unsubscribe(p, request)
  local app, topic, user = unpack(request)
  return '{"status":"' .. (Index.remove(p, app, Index.of_topic(topic), user) and 'unsubscribed' or 'absent') .. '"}'
end

register('pushpool_install', Fields.installation, install)
register('pushpool_create', Fields.installation, create)
register('pushpool_uninstall', Fields.uninstall, uninstall, {'allow-oom'})
register('pushpool_devices', Fields.devices, devices, {'no-writes'})
register('pushpool_subscribe', Fields.subscription, subscribe)
register('pushpool_unsubscribe', Fields.subscription, unsubscribe, {'allow-oom'})

end
