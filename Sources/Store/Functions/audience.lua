-- Audiences in a key. A job with a users_key has no segments to begin with: its SET, ZSET or LIST is read a batch at
-- a time, and each batch becomes the job's next segments. In the job's record `scan` is the key's type while there
-- is more to read, `scan_cursor` where to go on, `unread` how many members were announced and not read yet: these
-- stand in `total` and `pending`.

local Audience = {}  -- what later files use of it

do

-- Bytes that are no text of UTF-8, beyond those that only stand for themselves.
local UTF8_SEQUENCES = {
  '[\194-\223][\128-\191]', '\224[\160-\191][\128-\191]', '[\225-\236\238\239][\128-\191][\128-\191]',
  '\237[\128-\159][\128-\191]', '\240[\144-\191][\128-\191][\128-\191]',
  '[\241-\243][\128-\191][\128-\191][\128-\191]', '\244[\128-\143][\128-\191][\128-\191]',
}

-- Whether a member keeps the rules of a user id: TextRule.checkUser, on bytes.
local function is_user(member)
  if member == '' or #member > LIMIT.USER_BYTES_MAX or string.find(member, '%c') then return false end
  if not string.find(member, '[\128-\255]') then return true end
  if string.find(member, '\194[\128-\159]') then return false end
  for _, sequence in ipairs(UTF8_SEQUENCES) do member = string.gsub(member, sequence, 'x') end
  return not string.find(member, '[\128-\255]')
end

local COUNT_OF = {set = 'SCARD', zset = 'ZCARD', list = 'LLEN'}

-- The next members, and where to go on, nil at the end.
local function read_members(kind, key, cursor)
  if kind == 'set' then
    local reply = redis.call('SSCAN', key, cursor, 'COUNT', LIMIT.MEMBERS_READ)
    return reply[2], reply[1] ~= '0' and reply[1] or nil
  end
  local first = tonumber(cursor)
  local members = redis.call(kind == 'zset' and 'ZRANGE' or 'LRANGE', key, first, first + LIMIT.MEMBERS_READ - 1)
  return members, #members == LIMIT.MEMBERS_READ and text(first + #members) or nil
end

-- Whether a key of so many members is in an encoding that can only be read or walked through as a whole, which would hold
-- everybody up; also when that may not be asked.
local function is_unreadable(kind, key, n)
  if kind == 'list' or n <= LIMIT.WHOLE_SET_MAX then return false end
  local encoding = redis.pcall('OBJECT', 'ENCODING', key)
  return type(encoding) == 'table' or encoding ~= (kind == 'set' and 'hashtable' or 'skiplist'), encoding
end

-- The type and size of a key of users, or nil and what is wrong with it. Everything that will be done with the key is
-- tried: what an ACL or a cluster forbids is to be known before anything is written.
local function measure_audience(key)
  local kind = redis.pcall('TYPE', key)
  if kind.err then return nil, 'KEY_UNREADABLE' end
  kind = kind.ok
  if kind == 'none' then return nil, 'KEY_MISSING' end
  local count = COUNT_OF[kind]
  if not count then return nil, 'KEY_TYPE' end
  local n = redis.pcall(count, key)
  if type(n) == 'table' then return nil, 'KEY_UNREADABLE' end
  local unreadable, encoding = is_unreadable(kind, key, n)
  if unreadable then return nil, type(encoding) == 'table' and 'KEY_UNREADABLE' or 'KEY_ENCODING' end
  if not pcall(read_members, kind, key, '0') then return nil, 'KEY_UNREADABLE' end
  return kind, n
end

-- Those members that are users, each once.
local function users_among(members)
  local users, seen, bad = {}, {}, 0
  for _, member in ipairs(members) do
    if not is_user(member) then
      bad = bad + 1
    elseif not seen[member] then
      seen[member] = true
      users[#users + 1] = member
    end
  end
  return users, bad
end

-- Writes users as segments behind the job's last one, evenly filled. Returns the number of the last one then.
local function write_segments(p, source, users, last)
  local count = math.ceil(#users / LIMIT.SEGMENT_USERS_MAX)
  for n = 1, count do
    local first, behind = math.floor((n - 1) * #users / count) + 1, math.floor(n * #users / count)
    redis.call('SET', KEY.segment(p, text(last + n), source), table.concat(users, '\n', first, behind) .. '\n',
      'EX', LIMIT.SEGMENT_S)
  end
  return last + count
end

-- Ends the reading of a key that is not there any more: whom it still held nobody knows, so they are failed.
local function lose_audience(p, app, job, key, r, unread)
  local record = KEY.job(p, app, job)
  redis.call('HDEL', record, 'scan')
  redis.call('HINCRBY', record, 'failed', unread)
  redis.call('HINCRBY', record, 'pending', -unread)
  Metrics.count(p, app, {'none', 'failed', unread}, now_ms())
  -- A wrong type under the key of the dead letters must not undo what was settled.
  pcall(dead_letter, p, now_ms(), 'kind', 'chunk', 'reason', 'users_key_gone', 'field', '/audience/users_key', 'message',
    'The key ' .. key .. ' was deleted or replaced while the job ran: ' .. text(unread) ..
    ' users had not been read and count as failed; fill another key with them and enqueue a new job',
    'app', app, 'id', job, 'priority', r.priority, 'source', r.source, 'lines', 'users', 'segment', '',
    'recipients', '', 'done', '', 'count', text(unread))
end

-- Reads on in the audience of a job and writes its next segments; a few batches when the first ones hold nobody.
-- `cursor` is nil at the end, false when the key is gone.
-- Returns the number of the last segment, whether there is more to read, and how many users were lost.
local function read_on(p, app, job)
  local record = KEY.job(p, app, job)
  local v = redis.call('HMGET', record, 'scan', 'scan_cursor', 'unread', 'users_key', 'segments', 'source', 'priority')
  local kind, cursor, unread, key, last = v[1], v[2], tonumber(v[3]), v[4], tonumber(v[5])
  local total, skipped, before = 0, 0, last
  for _ = 1, LIMIT.READS_MAX do
    -- Also a key of another encoding has replaced the one that was admitted.
    if redis.call('TYPE', key).ok ~= kind or is_unreadable(kind, key, redis.call(COUNT_OF[kind], key)) then
      cursor = nil
      if unread > 0 then cursor = false end
      break
    end
    local members
    members, cursor = read_members(kind, key, cursor)
    local users, bad = users_among(members)
    last = write_segments(p, v[6], users, last)
    -- More than were announced: the key has grown. Less is known at the end only.
    local excess = math.max(0, #members - unread)
    unread = unread - #members + excess
    total = total + excess - (#members - #users - bad)
    skipped = skipped + bad
    if not cursor or last > before then break end
  end
  local lost = cursor == false and unread or 0
  if cursor == nil then
    total = total - unread
    unread = 0
    redis.call('HDEL', record, 'scan')
  elseif cursor then
    redis.call('HSET', record, 'scan_cursor', cursor)
  end
  redis.call('HSET', record, 'unread', text(unread), 'segments', text(last))
  if total ~= 0 then redis.call('HINCRBY', record, 'total', total) end
  if skipped ~= 0 then redis.call('HINCRBY', record, 'skipped', skipped) end
  Metrics.count(p, app, {'none', 'skipped', skipped}, now_ms())
  if total ~= skipped then redis.call('HINCRBY', record, 'pending', total - skipped) end
  if cursor == false then lose_audience(p, app, job, key, {priority = v[7], source = v[6]}, unread) end
  return last, cursor and true or false, lost
end

Audience.measure = measure_audience
Audience.read_on = read_on

end
