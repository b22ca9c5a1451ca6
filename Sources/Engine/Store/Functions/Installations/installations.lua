-- Installations, as workers and the command line bind and remove them: see bindings.lua.

local Installations = {}  -- what later files use of it

do

local without_line, line_of, unbind = Bindings.without_line, Bindings.line_of, Bindings.unbind
local COLUMNS = Bindings.COLUMNS

-- install, create and install_many — ARGV: sections, of these columns.
--   installations: what is bound; one row but for install_many
--     app, network, token, user, environment
--     kind: what the token is for, or '' for alerts
--     object_id: to use when the token is new
--     created_at, updated_at: ms, or ''
--     fields: how many rows of the section `fields` are this installation's
--   fields: what else is kept of them, in their order
--     name, value
--   batch, one row, of install_many only
--     import: the import's id, or ''
--     turn: the batch's place in it
local INSTALL = Sections.layout('install', {installations = COLUMNS, fields = 2}, {'installations'})
local CREATE = Sections.layout('create', {installations = COLUMNS, fields = 2}, {'installations'})
local INSTALL_MANY = Sections.layout('install_many', {batch = 2, installations = COLUMNS, fields = 2}, {'batch'})

-- Says so, unless every installation has a user and the fields are as many as they say.
local function refusal(args, first, last)
  local fields = 0
  for at = first.installations, last.installations, COLUMNS do
    if args[at + 3] == '' then return redis.error_reply('INVALID user: an installation needs a user') end
    fields = fields + tonumber(args[at + 9])
  end
  if first.fields + fields * 2 - 1 ~= last.fields then
    return redis.error_reply('SECTIONS the installations are to have ' .. text(fields) .. ' fields, which do not follow')
  end
end

local function bind_one(keys, args, of, strict)
  local first, last = Sections.read(args, of)
  local refused = refusal(args, first, last)
  if refused then return refused end
  local status, object_id, previous, evicted = Bindings.bind(keys[1], args, first.installations, first.fields, now_ms(), strict)
  return {status, object_id, previous, evicted}
end

-- install — ARGV: one installation, see above. The last installer wins.
-- Reply: {created|updated|moved, object id, previous user or '', evicted}
local function install(keys, args) return bind_one(keys, args, INSTALL, false) end

-- create — ARGV: as install. Strict: an existing token is not touched.
-- Reply: {created|conflict, object id, owner when conflict or '', evicted}
local function create(keys, args) return bind_one(keys, args, CREATE, true) end

-- install_many — ARGV: a batch and its installations, see above. A turn that comes after a later one of the same import
-- changes nothing: it is a copy that was delayed, and its lines would win over those behind them.
-- Reply: {created, updated, moved, evicted}, or the error OVERTAKEN
local function install_many(keys, args)
  local p = keys[1]
  local first, last = Sections.read(args, INSTALL_MANY)
  local refused = refusal(args, first, last)
  if refused then return refused end
  local id, turn = args[first.batch], tonumber(args[last.batch])
  if id ~= '' then
    local latest = redis.call('GET', KEY.import(p, id))
    if latest and turn <= tonumber(latest) then
      return redis.error_reply('OVERTAKEN a later part of the import was here first')
    end
    redis.call('SET', KEY.import(p, id), text(turn), 'EX', DAY_S)
  end
  local now, extra, allowance = now_ms(), first.fields, {steps = LIMIT.LEFT_AT_ONCE}
  local n = {created = 0, updated = 0, moved = 0, evicted = 0}
  for at = first.installations, last.installations, COLUMNS do
    local status, _, _, evicted, after = Bindings.bind(p, args, at, extra, now, false, allowance)
    n[status], n.evicted = n[status] + 1, n.evicted + evicted
    extra = after
  end
  return {n.created, n.updated, n.moved, n.evicted}
end

-- uninstall — ARGV: app, network, token, owner or '' (anyone). Reply: removed | absent | other_owner
local function uninstall(keys, args) return Bindings.release(keys[1], unpack(args, 1, 4)) end

-- Removes a binding on the provider's word, if it is still the one that was tried: same user, same
-- generation, and installed no later than the provider's time of death (where it gives one).
-- Never raises, because settle has begun to write: what cannot be checked is kept. For the allowance see bindings.lua.
local function remove_invalid(p, app, network, token, user, generation, since, reason, job, allowance)
  local key = KEY.token(p, network, app, token)
  local r = redis.pcall('HMGET', key, 'user', 'generation', 'updated_at', 'channels')
  if r.err then return 'stale' end
  if not r[1] then return 'absent' end
  if r[1] ~= user or r[2] ~= generation then return 'stale' end
  -- Of a damaged record nobody knows when it was installed.
  local updated = tonumber(r[3])
  if since ~= '' and (not updated or tonumber(since) < updated) then return 'stale' end
  local lines = redis.pcall('GET', KEY.user(p, app, user))
  if type(lines) == 'table' then return 'stale' end
  local noted = redis.pcall('XADD', KEY.uninstalled(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', 'app', app, 'user', user,
    'network', network, 'token', token, 'reason', reason, 'provider_time', since, 'job', job)
  if type(noted) == 'table' and noted.err then return 'stale' end
  Bindings.note_departure(p, noted, 'network', app, network, token, user, reason, job)
  redis.call('DEL', key)
  unbind(p, app, user, (without_line(lines or '', network, token)), r[4], allowance)
  return 'removed'
end

-- Corrects the environment of a binding that the network has accepted in another one, if it is still the one that
-- was tried. It gets a new generation, so that verdicts about the wrong environment no longer concern it.
-- Never raises, as remove_invalid.
local function relabel(p, app, network, token, user, generation, environment)
  local key, user_key = KEY.token(p, network, app, token), KEY.user(p, app, user)
  local r = redis.pcall('HMGET', key, 'user', 'generation', 'environment', 'updated_at', 'kind')
  if r.err or r[1] ~= user or r[2] ~= generation or r[3] == environment then return end
  local lines = redis.pcall('GET', user_key)
  if type(lines) ~= 'string' then return end
  local others = without_line(lines, network, token)
  local drawn = redis.pcall('INCR', KEY.generation(p))
  if type(drawn) == 'table' then return end
  local noted = redis.pcall('XADD', KEY.audit(p), 'MAXLEN', '~', LIMIT.NOTICES_MAX, '*', 'cause', 'environment', 'app', app,
    'user', user, 'network', network, 'token', token, 'by', environment)
  if type(noted) == 'table' and noted.err then return end
  Bindings.note_departure(p, noted, 'environment', app, network, token, nil, environment)
  redis.call('HSET', key, 'environment', environment, 'generation', text(drawn))
  redis.call('SET', user_key, others .. line_of(network, r[5], environment, text(drawn), r[4], token))
end

-- invalidate — ARGV: app, network, token, user, generation, provider's time (ms) or '', reason, job.
-- Reply: removed | stale | absent
local function invalidate(keys, args)
  return remove_invalid(keys[1], unpack(args, 1, 8))
end

-- fields — ARGV: app, how many names follow, names of fields, then a network, how many tokens of it follow, and those tokens, as often
-- as the network changes. Reply: what each installation has of each name, in their order; nil for what it lacks.
local function fields(keys, args)
  local p, app, count, found, last = keys[1], args[1], tonumber(args[2]), {}, 0
  local names, at = {unpack(args, 3, count + 2)}, count + 3
  while args[at] do
    local start, ends = KEY.token(p, args[at], app, ''), at + 1 + tonumber(args[at + 1])
    for i = at + 2, ends do
      local key = start .. args[i]
      if count == 1 then
        -- The language, mostly: no table is made for it.
        local value = redis.pcall('HGET', key, names[1])
        last = last + 1
        found[last] = type(value) == 'string' and value
      else
        local values = redis.pcall('HMGET', key, unpack(names))
        for n = 1, count do
          last = last + 1
          found[last] = not values.err and values[n]
        end
      end
    end
    at = ends + 1
  end
  return found
end

register('install', install)
register('create', create)
register('install_many', install_many)
register('uninstall', uninstall, {'allow-oom'})
register('invalidate', invalidate, {'allow-oom'})
register('fields', fields, {'no-writes'})

Installations.refusal = refusal
Installations.remove_invalid = remove_invalid
Installations.relabel = relabel

end
