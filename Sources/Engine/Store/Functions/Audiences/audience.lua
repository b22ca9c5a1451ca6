-- Audiences in Redis: the members of a users_key, or the users of an index (index.lua). Such a job has no segments to begin
-- with: its SET, ZSET or LIST, or its index, is read a batch at a time, and each batch becomes the job's next segments. In the
-- job's record `scan` stands while there is more to read, and `unread` is how many members were announced and not read yet:
-- these stand in `total` and `pending`. `left_key` is how many of them were not there any more when the end was reached.
-- Of a job with an index, `index` is its name and `scan_cursor` the user that was read last.

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

-- The type and size of a key of users, or nil and what is wrong with it. Everything that will be done with the key is
-- tried: what an ACL or a cluster forbids is to be known before anything is written.
local function measure_audience(key)
  local kind = redis.pcall('TYPE', key)
  if kind.err then return nil, 'KEY_UNREADABLE' end
  kind = kind.ok
  if kind == 'none' then return nil, 'KEY_MISSING' end
  if not Reading.is_readable(kind) then return nil, 'KEY_TYPE' end
  local ok, n, encoding = pcall(Reading.size_of, kind, key)
  if not ok or type(encoding) == 'table' then return nil, 'KEY_UNREADABLE' end
  if not n then return nil, 'KEY_ENCODING' end
  if not pcall(Reading.try, kind, key) then return nil, 'KEY_UNREADABLE' end
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
local function write_segments(p, source, users, last, round)
  local count = math.ceil(#users / LIMIT.SEGMENT_USERS_MAX)
  for n = 1, count do
    local first, behind = math.floor((n - 1) * #users / count) + 1, math.floor(n * #users / count)
    redis.call('SET', KEY.segment(p, Rounds.name(text(last + n), round), source), table.concat(users, '\n', first, behind) .. '\n')
  end
  return last + count
end

-- Ends the reading of a key that is not there any more, or of an index whose keys hold something else: whom it still held nobody
-- knows, so they are failed. Later rounds read it anew, but for kept recipients of which a part is gone.
local function lose_audience(p, app, job, r, unread)
  local record = KEY.job(p, app, job)
  if unread > 0 then
    redis.call('HINCRBY', record, 'failed', unread)
    redis.call('HINCRBY', record, 'pending', -unread)
    Metrics.count(p, app, {'none', 'failed', unread}, now_ms())
  end
  local loss = text(unread) .. ' users had not been read and count as failed'
  if unread == 0 then loss = 'nobody could be read for one of the local times of this job, at which it sent nothing' end
  -- A wrong type under the key of the dead letters must not undo what was settled.
  local reason, field, message = 'users_key_gone', '/audience/users_key', 'The key ' .. (r.key or '') ..
    ' was deleted or replaced, or as a list changed all the time, while the job ran: ' .. loss ..
    '; fill another key with them and enqueue a new job'
  if r.index then
    reason, field, message = 'index_gone', '/audience', 'A key of the index ' .. r.index .. ' holds something else: ' ..
      loss .. '; look for what writes to keys of this prefix'
  end
  if r.base then
    reason, field, message = 'segment_missing', '/audience', 'A part of the recipients of this job is no longer in Redis: ' ..
      loss .. ', and the job ends with this local time; look for what deletes keys there, and enqueue a new job'
    Rounds.drop_kept(p, r.source, r.base)
  end
  pcall(dead_letter, p, now_ms(), 'kind', 'chunk', 'reason', reason, 'field', field, 'message', message, 'app', app,
    'id', job, 'priority', r.priority, 'source', r.source, 'lines', 'users', 'segment', '', 'recipients', '', 'done',
    '', 'count', text(unread))
end

-- Copies the next of the segments that a job keeps, as one of a round. Returns how many lines it has; nil when it is gone.
local function copy_segment(p, record, place, r, last)
  local kept = KEY.segment(p, text(place.cursor + 1), r.source)
  local lines = redis.call('GET', kept)
  if not lines then return nil end
  redis.call('SET', KEY.segment(p, Rounds.name(text(last + 1), r.round), r.source), lines)
  place.cursor = place.cursor + 1
  place.is_over = place.cursor == r.base
  if not Rounds.has_next(record) then redis.call('UNLINK', kept) end
  return lines_in(lines)
end

-- Where a job reads on.
local function restore(record, r)
  if r.base then return {cursor = tonumber(redis.call('HGET', record, 'scan_cursor') or '0')} end
  if not r.index then return Reading.restore(record, r.source, r.key) end
  return {cursor = redis.call('HGET', record, 'scan_cursor') or ''}
end

-- The next members that were not read before, maybe none; nil when they are lost. At the end place.is_over is true.
local function next_members(p, app, place, r)
  if not r.index then
    local size = Reading.size_of(place.kind, r.key)
    return size and Reading.next_members(p, place, r.key, size)
  end
  local ok, users, cursor, is_over = pcall(Index.page, p, app, r.index, place.cursor)
  if not ok then return nil end
  place.cursor, place.is_over = cursor, is_over
  return users
end

-- Keeps the place for the next read, or forgets all of the reading.
local function keep_place(p, record, place, r, has_more)
  if not has_more then
    Reading.drop(p, record, r.source)
  elseif r.index then
    redis.call('HSET', record, 'scan_cursor', place.cursor)
  elseif r.base then
    redis.call('HSET', record, 'scan_cursor', text(place.cursor))
  else
    Reading.save(record, place)
  end
end

-- Begins to read for another round, of whoever is in the audience by now. Returns how many are announced; nil when it is gone.
local function begin_round(p, app, record, r)
  local announced, kind
  if r.index then
    announced = Index.size(p, app, r.index)
    redis.call('HSET', record, 'scan', 'index')
  elseif r.base then
    announced = tonumber(redis.call('HGET', record, 'base_recipients'))
    redis.call('HSET', record, 'scan', 'base')
  else
    kind, announced = measure_audience(r.key)
    if not kind then return nil end
    redis.call('HSET', record, unpack(Reading.begin(kind, r.key, announced)))
  end
  redis.call('HINCRBY', record, 'total', announced)
  redis.call('HINCRBY', record, 'pending', announced)
  return announced
end

-- Reads on in the audience of a job and writes its next segments; once more when the first read finds few.
-- Returns the number of the last segment, whether there is more to read, and how many users were lost.
local function read_on(p, app, job)
  local record = KEY.job(p, app, job)
  local v = redis.call('HMGET', record, 'unread', 'segments', 'users_key', 'index', 'source', 'priority', 'round', 'base')
  local r = {key = v[3], index = v[4], source = v[5], priority = v[6], round = v[7] or nil, base = tonumber(v[8])}
  local unread, last = tonumber(v[1]) or r.round and begin_round(p, app, record, r), tonumber(v[2])
  local total, skipped, found, is_gone = 0, 0, {}, not unread
  unread = unread or 0
  local place = is_gone and {} or restore(record, r)
  for _ = 1, r.base and 0 or LIMIT.READS_MAX do
    if is_gone then break end
    local members = next_members(p, app, place, r)
    if not members then
      is_gone = true
      break
    end
    local users, bad = users_among(members)
    for _, user in ipairs(users) do found[#found + 1] = user end
    -- More than were announced: there are more by now. Less is known at the end only.
    local excess = math.max(0, #members - unread)
    unread = unread - #members + excess
    total = total + excess - (#members - #users - bad)
    skipped = skipped + bad
    if place.is_over then
      -- The rest is not there any more, and was not read.
      if unread > 0 then redis.call('HSET', record, 'left_key', text(unread)) end
      total = total - unread
      unread = 0
    end
    if place.is_over or #found >= LIMIT.FOUND_MIN then break end
  end
  if r.base and not is_gone then
    local count = copy_segment(p, record, place, r, last)
    is_gone = not count
    if count then unread, last = unread - count, last + 1 end
  end
  -- A member that is no user is counted once, and not in each round.
  if r.round and r.round ~= '0' then total, skipped = total - skipped, 0 end
  last = write_segments(p, r.source, found, last, r.round)
  local has_more, lost = not place.is_over and not is_gone, is_gone and unread or 0
  keep_place(p, record, place, r, has_more)
  if (place.is_over or is_gone and not r.base) and r.round and Rounds.has_next(record) then
    redis.call('HSET', record, 'scan', Rounds.READ)
    has_more = true
  end
  redis.call('HSET', record, 'unread', text(unread - lost), 'segments', text(last))
  if total ~= 0 then redis.call('HINCRBY', record, 'total', total) end
  if skipped ~= 0 then redis.call('HINCRBY', record, 'skipped', skipped) end
  Metrics.count(p, app, {'none', 'skipped', skipped}, now_ms())
  if total ~= skipped then redis.call('HINCRBY', record, 'pending', total - skipped) end
  if lost > 0 or is_gone and r.round then lose_audience(p, app, job, r, lost) end
  return last, has_more, lost
end

Audience.measure = measure_audience
Audience.read_on = read_on

end
