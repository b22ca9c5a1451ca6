-- Bindings of device tokens to users: the one place that writes what an install and an uninstall change, for the functions of
-- workers and of the command line (installations.lua) and for those that any client calls (Registration). The user's STRING is
-- what the lanes read; the token's HASH is the full record. A generation is drawn from one counter, so a token removed and
-- installed again never repeats one. With a user's first binding the user comes into the index of all, with the last one out of
-- it, and so with the channels of a user's installations: see index.lua.

local Bindings = {}  -- what later files use of it

do

-- The user's lines without the one of this token, and how many are left.
local function without_line(lines, network, token)
  local find = string.find
  -- A line ends with its token, and begins with its network: nothing is taken apart, for a batch does this often.
  local ending, n = '\t' .. token .. '\n', 0
  local _, wanted = find(lines, ending, 1, true)
  local start, stop = 1, find(lines, '\n', 1, true)
  local from, to
  while stop do
    n = n + 1
    if stop == wanted then
      if string.sub(lines, start, start + #network - 1) == network and find(lines, '^[\t.]', start + #network) then
        from, to = start, stop
      end
      _, wanted = find(lines, ending, stop, true)
    end
    start = stop + 1
    stop = find(lines, '\n', start, true)
  end
  if not from then return lines, n end
  return string.sub(lines, 1, from - 1) .. string.sub(lines, to + 1), n - 1
end

-- A user's line of a binding. Its network is followed by what the token is for, unless that is alerts: who knows no
-- kinds takes such a line for one of another network, and sends it nothing.
local function line_of(network, kind, environment, generation, updated, token)
  if kind and kind ~= '' then network = network .. '.' .. kind end
  return table.concat({network, environment, generation, updated, token}, '\t') .. '\n'
end

-- The channels in a record's field, as a set.
local function channels_in(field)
  local set = {}
  for name in string.gmatch(field, '[^\n]+') do set[name] = true end
  return set
end

-- Keeps what a call had no time for, for leave_on. Beyond the bound a user stays in channels without such installations.
local function put_off(p, app, user, field)
  local key = KEY.leaving(p)
  local waiting = redis.pcall('RPUSH', key, cjson.encode({app, user, field}))
  if type(waiting) == 'number' and waiting > LIMIT.LEAVING_MAX then redis.call('RPOP', key) end
end

-- Takes a user out of the channels that one installation was in (a record's field, or false), but for those that are kept or that
-- another of the user's lines is in. Devices and channels may be many, so a call that removes many bindings has an allowance of
-- `steps`: when they are used up, what is left is put off. It never raises: see unbind.
local function leave_channels(p, app, user, lines, field, kept, allowance)
  if not field or field == '' then return end
  if allowance and allowance.steps <= 0 then return put_off(p, app, user, field) end
  local left, steps = channels_in(field), 0
  for name in pairs(kept) do left[name] = nil end
  for network, token in string.gmatch(lines, '([^\t.\n]*)[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t([^\n]*)\n') do
    if not next(left) then break end
    steps = steps + 1
    local others = redis.pcall('HGET', KEY.token(p, network, app, token), 'channels')
    for name in string.gmatch(type(others) == 'string' and others or '', '[^\n]+') do left[name] = nil end
  end
  for name in pairs(left) do
    steps = steps + 1
    pcall(Index.remove, p, app, Index.of_channel(name), user)
  end
  if allowance then allowance.steps = allowance.steps - steps end
end

-- Goes on with what was put off, as far as the allowance reaches. Returns whether more is left.
local function leave_on(p, allowance)
  local key = KEY.leaving(p)
  while allowance.steps > 0 do
    local item = redis.pcall('LPOP', key)
    if type(item) ~= 'string' then return false end
    allowance.steps = allowance.steps - 1
    local app, user, field = unpack(cjson.decode(item))
    local lines = redis.pcall('GET', KEY.user(p, app, user))
    -- What cannot be read may have devices in these channels.
    if type(lines) ~= 'table' then leave_channels(p, app, user, lines or '', field, {}, allowance) end
  end
  return redis.call('EXISTS', key) == 1
end

-- Keeps what is left of a user's lines when a binding is removed that was in these channels. It never raises for an index, since
-- its caller has begun to write: a job finds a user that stays there without such installations.
local function unbind(p, app, user, lines, channels, allowance)
  local key = KEY.user(p, app, user)
  if lines ~= '' then
    redis.call('SET', key, lines)
  else
    redis.call('DEL', key)
    pcall(Index.remove, p, app, Index.ALL, user)
  end
  leave_channels(p, app, user, lines, channels, {}, allowance)
end

-- Departures: what became last of a token, and of a user's devices. The notices tell of it too, among a hundred thousand others.
-- HASH P:departed:<turn>: t:<network>:<app>:<token> → cause, at (ms), user, by, job; u:<app>:<user> → cause, at, network, token, by,
-- job; with tabs between. A turn is half a week. This and the last one are asked, so that what is kept has two bounds: a turn that
-- has as many as it may have becomes the last one.

-- A text as departures tell it: of one that is longer than tokens are its beginning, so that all departures are bounded.
local function in_short(text)
  if #text <= LIMIT.DEPARTED_TOKEN_BYTES_MAX then return text end
  return string.sub(text, 1, LIMIT.DEPARTED_TOKEN_BYTES_MAX) .. '\226\128\166'
end

-- Notes a departure, or another word of the network about a token when there is no user. entry: of its notice. It never raises: a
-- Redis user of an earlier version's documents may not write the key.
local function note_departure(p, entry, cause, app, network, token, user, by, job)
  local at = string.match(entry, '^%d+')
  local turn = math.floor(tonumber(at) / LIMIT.DEPARTED_MS)
  local key = KEY.departed(p, text(turn))
  by, job = in_short((string.gsub(by, '%c', ' '))), job or ''
  local known = string.sub(token, 1, LIMIT.DEPARTED_TOKEN_BYTES_MAX)
  local words = {'t:' .. network .. ':' .. app .. ':' .. known, table.concat({cause, at, user or '', by, job}, '\t')}
  if user then
    words[3], words[4] = 'u:' .. app .. ':' .. user, table.concat({cause, at, network, in_short(token), by, job}, '\t')
  end
  local added = redis.pcall('HSET', key, unpack(words))
  local count = type(added) == 'number' and added > 0 and redis.pcall('HLEN', key)
  if type(count) ~= 'number' then return end
  if count == added then
    redis.pcall('PEXPIRE', key, text(2 * LIMIT.DEPARTED_MS))
  elseif count >= LIMIT.DEPARTED_MAX then
    local last = KEY.departed(p, text(turn - 1))
    redis.pcall('UNLINK', last)
    redis.pcall('RENAME', key, last)
  end
end

-- Makes room for one more binding of a user who has as many as one may have: the first line is the one that was
-- installed or renewed the longest ago. Refusing the new one instead would leave its device with the former owner.
-- It is in the channels that are kept. Returns the user's lines, and how many bindings are gone.
local function evict(p, app, user, lines, n, by, kept, allowance)
  local gone = 0
  while n >= LIMIT.INSTALLATIONS_PER_USER_MAX do
    local network, token = string.match(lines, '^([^\t.]*)[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\t([^\n]*)')
    local entry = redis.call('XADD', KEY.audit(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', 'cause', 'evicted', 'app', app,
      'user', user, 'network', network, 'token', token, 'by', by)
    note_departure(p, entry, 'evicted', app, network, token, user, by)
    local key = KEY.token(p, network, app, token)
    local channels = redis.call('HGET', key, 'channels')
    redis.call('DEL', key)
    lines, n = string.sub(lines, string.find(lines, '\n', 1, true) + 1), n - 1
    leave_channels(p, app, user, lines, channels, kept, allowance)
    gone = gone + 1
  end
  return lines, gone
end

-- An object id, for a token that is new and whose caller gives none: 128 bits in hexadecimal. Functions have no source of
-- randomness, and nobody else has this generation of this token.
local function new_object_id(p, network, app, token, generation, now)
  return string.sub(redis.sha1hex(table.concat({p, network, app, token, generation, text(now)}, '\n')), 1, 32)
end

-- The columns of an installation's row: app, network, token, user, environment, kind or '' for alerts, object id or '',
-- created_at and updated_at in ms or '', how many fields are its own.
local COLUMNS = 10

-- The channels that an installation's fields name, as its record keeps them, '' for none; nil when they name no channels.
local function channels_of(args, first, last)
  for i = first, last, 2 do
    if args[i] == 'channels' then return args[i + 1] end
  end
end

-- Binds the installation whose row is at args[at], and whose fields (name, value)… begin at args[extra]. Returns status,
-- object id, previous user, how many of the user's bindings were evicted, and where the next one's fields begin. Strict
-- refuses an existing token. For the allowance see leave_channels.
local function bind(p, args, at, extra, now, strict, allowance)
  local app, network, token, user, environment, kind = unpack(args, at, at + 5)
  local after = extra + tonumber(args[at + 9]) * 2
  local key = KEY.token(p, network, app, token)
  local old = redis.call('HMGET', key, 'user', 'object_id', 'created_at', 'updated_at', 'kind', 'channels')
  if strict and old[1] then return 'conflict', old[2], old[1], 0, after end
  local moved = old[1] and old[1] ~= user
  local user_key = KEY.user(p, app, user)
  local former = redis.call('GET', user_key) or ''
  local lines, n = without_line(former, network, token)
  local old_lines = moved and without_line(redis.call('GET', KEY.user(p, app, old[1])) or '', network, token)
  local before, given = not moved and old[6] or '', channels_of(args, extra, after - 1)
  local channels = given or before
  local has_changed = channels ~= before
  local joined = has_changed and channels_in(channels) or {}
  -- First, since these can fail.
  local generation = text(redis.call('INCR', KEY.generation(p)))
  -- Before this binding there was none. What fails from here on leaves nothing bound.
  if generation == '1' then Index.make_whole(p, Index.EVERY_APP) end
  if former == '' then Index.add(p, app, Index.ALL, user) end
  for name in pairs(joined) do Index.add(p, app, Index.of_channel(name), user) end
  if moved then
    local entry = redis.call('XADD', KEY.audit(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', 'cause', 'overwritten', 'app', app,
      'user', old[1], 'network', network, 'token', token, 'by', user)
    note_departure(p, entry, 'overwritten', app, network, token, old[1], user)
    -- The former owner's badge, channels and custom fields are not the new owner's.
    redis.call('DEL', key)
    unbind(p, app, old[1], old_lines, old[6], allowance)
  end
  local evicted
  lines, evicted = evict(p, app, user, lines, n, token, joined, allowance)
  local created = old[3] or (args[at + 7] ~= '' and args[at + 7]) or text(now)
  local updated = args[at + 8] ~= '' and math.min(tonumber(args[at + 8]), now) or now
  if old[4] and not moved then updated = math.max(updated, tonumber(old[4]) or 0) end
  local object_id = old[2] or args[at + 6]
  if object_id == '' then object_id = new_object_id(p, network, app, token, generation, now) end
  redis.call('HSET', key, 'user', user, 'environment', environment, 'generation', generation, 'object_id',
    object_id, 'created_at', created, 'updated_at', text(updated), unpack(args, extra, after - 1))
  -- Else the present owner has it since it was created.
  if moved then redis.call('HSET', key, 'moved_at', text(now)) end
  if kind ~= '' then
    redis.call('HSET', key, 'kind', kind)
  elseif old[5] then
    redis.call('HDEL', key, 'kind')
  end
  if given == '' then redis.call('HDEL', key, 'channels') end
  if has_changed then leave_channels(p, app, user, lines, before, joined, allowance) end
  redis.call('SET', user_key, lines .. line_of(network, kind, environment, generation, text(updated), token))
  return (moved and 'moved') or (old[1] and 'updated') or 'created', object_id, old[1] or '', evicted, after
end

local function note_explicit(p, app, user, network, token, by)
  local entry = redis.call('XADD', KEY.audit(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', 'cause', 'explicit', 'app', app,
    'user', user, 'network', network, 'token', token, 'by', by)
  note_departure(p, entry, 'explicit', app, network, token, user, by)
end

-- What P:unbound calls a token.
local function unbound_name(network, app, token) return table.concat({network, app, token}, ':') end

-- Remembers that a token was uninstalled, with the generation that was drawn last: should a user's line of an earlier one come
-- up without a record, it is not to bring the binding back. The latest of them are kept. It never raises: a Redis user of an
-- earlier version's documents may not write the key.
local function note_unbound(p, app, network, token)
  local key, drawn = KEY.unbound(p), redis.pcall('GET', KEY.generation(p))
  redis.pcall('ZADD', key, tonumber(type(drawn) == 'string' and drawn or '0') or 0, unbound_name(network, app, token))
  redis.pcall('ZREMRANGEBYRANK', key, 0, -LIMIT.NOTICES_MAX - 1)
end

-- Takes out a user's line of a token whose record is gone or another user's. Returns whether there was one.
local function release_line(p, app, network, token, user)
  local lines = redis.call('GET', KEY.user(p, app, user)) or ''
  local others = without_line(lines, network, token)
  if others == lines then return false end
  note_explicit(p, app, user, network, token, user)
  unbind(p, app, user, others, false)
  return true
end

-- Removes the binding of a token; with an owner other than '' only that user's. Of one without a record the line goes, if its
-- owner is given: whose it is nobody else can tell. Returns removed, absent or other_owner.
local function release(p, app, network, token, owner)
  local key = KEY.token(p, network, app, token)
  local user, channels = unpack(redis.call('HMGET', key, 'user', 'channels'))
  if not user or owner ~= '' and owner ~= user then
    local is_found = owner ~= '' and release_line(p, app, network, token, owner)
    if user then return 'other_owner' end
    note_unbound(p, app, network, token)
    return is_found and 'removed' or 'absent'
  end
  local lines = without_line(redis.call('GET', KEY.user(p, app, user)) or '', network, token)
  note_explicit(p, app, user, network, token, owner)
  redis.call('DEL', key)
  unbind(p, app, user, lines, channels)
  note_unbound(p, app, network, token)
  return 'removed'
end

Bindings.COLUMNS = COLUMNS
Bindings.without_line = without_line
Bindings.line_of = line_of
Bindings.new_object_id = new_object_id
Bindings.unbound_name = unbound_name
Bindings.note_departure = note_departure
Bindings.unbind = unbind
Bindings.leave_on = leave_on
Bindings.bind = bind
Bindings.release = release

end
