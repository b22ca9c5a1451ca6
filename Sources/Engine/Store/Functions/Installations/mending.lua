-- Bindings that are half there. No function leaves one: an eviction does, or a hand that deletes keys. A walk over the keys of
-- the whole database, a few a call, compares each user's lines with the tokens' records, both ways. Each half has what makes the
-- other:
--   a line without a record  the record is written from it, so that an uninstall finds the binding again; unless somebody has
--                            uninstalled the token since (P:unbound): then the line goes
--   a line beside the record of another user  the line goes, for that device is not this user's any more
--   a record without its line  the line is written from it
-- What was mended is an alarm.

local Mending = {}  -- what later files use of it

do

local EVERY_APP = ''

local function is_network(name)
  for _, network in ipairs(NETWORKS) do
    if network == name then return true end
  end
  return false
end

-- What a walk has done: steps taken, bindings of each app, and the highest generation that was met.
local function new_work() return {steps = 0, records = 0, dropped = 0, lines = 0, apps = {}, generation = 0} end

local function count(work, kind, app)
  work[kind] = work[kind] + 1
  work.apps[app] = (work.apps[app] or 0) + 1
end

-- Whether somebody has uninstalled a token since it was given a generation.
local function is_unbound(p, network, app, token, generation)
  local found = redis.pcall('ZSCORE', KEY.unbound(p), Bindings.unbound_name(network, app, token))
  return type(found) == 'string' and tonumber(found) >= tonumber(generation)
end

-- What becomes of a user's line: whether it stays.
local function mend_line(p, app, user, line, work)
  local label, environment, generation, updated, token =
    string.match(line, '^([^\t]*)\t([^\t]*)\t(%d+)\t(%d+)\t([^\n]+)\n$')
  local network, kind = string.match(label or '', '^([^.]*)%.?(.*)$')
  -- A line that cannot be read may be a later version's.
  if not is_network(network) then return true end
  work.steps = work.steps + 1
  work.generation = math.max(work.generation, tonumber(generation))
  local key = KEY.token(p, network, app, token)
  local owner = redis.pcall('HGET', key, 'user')
  if owner == user or type(owner) == 'table' then return true end
  if owner or is_unbound(p, network, app, token, generation) then
    count(work, 'dropped', app)
    return false
  end
  redis.call('HSET', key, 'user', user, 'environment', environment, 'generation', generation, 'object_id',
    Bindings.new_object_id(p, network, app, token, generation, now_ms()), 'created_at', updated, 'updated_at', updated)
  if kind ~= '' then redis.call('HSET', key, 'kind', kind) end
  count(work, 'records', app)
  return true
end

local function mend_user(p, app, user, key, work)
  local lines = redis.pcall('GET', key)
  if type(lines) ~= 'string' then return end
  local kept, has_dropped, read = {}, false, 0
  for line in string.gmatch(lines, '[^\n]*\n') do
    read = read + #line
    if mend_line(p, app, user, line, work) then kept[#kept + 1] = line else has_dropped = true end
  end
  -- What has no end is no line of ours.
  kept[#kept + 1] = string.sub(lines, read + 1)
  -- The channels of an installation without a record are not known: a user who stays in one gets nothing there.
  if has_dropped then Bindings.unbind(p, app, user, table.concat(kept), false) end
end

local function mend_record(p, app, network, token, key, work)
  local r = redis.pcall('HMGET', key, 'user', 'environment', 'generation', 'updated_at', 'kind')
  if r.err or not (r[1] and r[2] and tonumber(r[3]) and tonumber(r[4])) then return end
  work.generation = math.max(work.generation, tonumber(r[3]))
  local user_key = KEY.user(p, app, r[1])
  local lines = redis.pcall('GET', user_key)
  if type(lines) == 'table' then return end
  -- As long as such a user's lines are, they cost as many of them.
  work.steps = work.steps + math.floor(#(lines or '') / LIMIT.MENDING_BYTES)
  local line = Bindings.line_of(network, r[5], r[2], r[3], r[4], token)
  -- From its first tab on: of these a line has few.
  if string.find(lines or '', string.sub(line, (string.find(line, '\t', 1, true))), 1, true) then return end
  local others, n = Bindings.without_line(lines or '', network, token)
  -- Of a user who has as many as one may have none is taken away for it.
  if n >= LIMIT.INSTALLATIONS_PER_USER_MAX then return end
  redis.call('SET', user_key, others .. line)
  pcall(Index.add, p, app, Index.ALL, r[1])
  count(work, 'lines', app)
end

-- Mends what a key is a half of.
local function mend_key(p, wanted, key, work)
  work.steps = work.steps + 1
  local users = KEY.user(p, '', '')
  users = string.sub(users, 1, #users - 1)
  if string.sub(key, 1, #users) == users then
    local app, user = string.match(key, '^([^:]*):(.+)$', #users + 1)
    if app and (wanted == EVERY_APP or app == wanted) then mend_user(p, app, user, key, work) end
    return
  end
  for _, network in ipairs(NETWORKS) do
    local start = KEY.tokens(p, network)
    if string.sub(key, 1, #start) == start then
      local app, token = string.match(key, '^([^:]*):(.+)$', #start + 1)
      if app and (wanted == EVERY_APP or app == wanted) then mend_record(p, app, network, token, key, work) end
    end
  end
end

-- Tells of what was mended, with what was within a day.
local function tell(p, work, now)
  for app, n in pairs(work.apps) do
    local all = redis.pcall('HINCRBY', KEY.mended(p), app, n)
    redis.pcall('EXPIRE', KEY.mended(p), DAY_S)
    Alarms.set(p, 'half_binding|' .. app, 'store', LIMIT.ALARM_MS_MAX, app .. ': ' .. text(type(all) == 'number' and all or n) ..
      ' bindings were half there within a day and were mended; look for what deletes keys in Redis', now)
  end
end

-- Goes on with a walk, until so much was looked at as one call may. Returns its place (Walk.page) and what it has done. A page
-- of which much was to be mended is left at its beginning: what was mended costs less the next time.
local function go_on(p, wanted, cursor, server)
  local work, place, looked, begins_again = new_work(), nil, 0, 0
  repeat
    local first, is_left, keys = cursor, false, nil
    keys, place = Walk.page(p .. ':', cursor, server, LIMIT.MENDED_PAGE)
    begins_again = math.max(begins_again, place[4])
    for _, key in ipairs(keys) do
      is_left = work.records + work.lines + work.dropped >= LIMIT.MENDED_MAX
      if is_left then break end
      mend_key(p, wanted, key, work)
    end
    if is_left then place[1] = first == '' and '0' or first end
    cursor, server, looked = place[1], place[2], looked + LIMIT.MENDED_PAGE
  until is_left or cursor == '' or work.steps >= LIMIT.MENDING_STEPS or looked >= LIMIT.WALKED_AT_ONCE
  place[4] = begins_again
  -- Redis may have lost the counter as well. A generation never comes again.
  local drawn = redis.pcall('GET', KEY.generation(p))
  if type(drawn) ~= 'table' and (tonumber(drawn or '0') or 0) < work.generation then
    redis.call('SET', KEY.generation(p), text(work.generation))
  end
  tell(p, work, now_ms())
  return place, work
end

-- mend_bindings — ARGV: app, cursor and server of the last reply (Walk.page).
-- Reply: {cursor; server; keys in the database; 1 when the walk begins again; records written from lines; lines written from
-- records; lines taken out}
local function mend_bindings(keys, args)
  local place, work = go_on(keys[1], args[1], args[2], args[3])
  place[5], place[6], place[7] = work.records, work.lines, work.dropped
  return place
end

-- mend_next — no ARGV. Goes on with the fleet's own walk over the bindings of every app, which rests for a day after its end.
-- Reply: {bindings mended, 1 while it rests}
local function mend_next(keys)
  local p, now = keys[1], now_ms()
  local key = KEY.mending(p)
  local at = redis.pcall('HMGET', key, 'cursor', 'server', 'rests_until')
  if at.err then
    -- Nobody else's key: what stands there is a mistake, and the walk begins anew.
    redis.call('DEL', key)
    at = {}
  end
  if tonumber(at[3] or '') and now < tonumber(at[3]) then return {0, 1} end
  local place, work = go_on(p, EVERY_APP, at[1] or '', at[2] or '')
  local is_over = place[1] == ''
  redis.call('HSET', key, 'cursor', place[1], 'server', place[2], 'rests_until', is_over and text(now + DAY_S * 1000) or '0')
  return {work.records + work.lines + work.dropped, is_over and 1 or 0}
end

register('mend_bindings', mend_bindings)
register('mend_next', mend_next)

end
