-- Reading a key of users: each member that stays in it is read once, whatever becomes of the server or of the key.
--
-- A place in a key can be lost. SSCAN and ZSCAN follow a hash whose seed each server process chooses anew: after a restart or a
-- failover their cursor points anywhere. An index into a LIST points elsewhere once something is pushed or removed before it.
-- So a mark of each member, the first 8 bytes of its SHA-1, is kept until the reading ends: P:marks, a LIST with one element
-- for each read. When the place is lost, reading begins again and leaves out who was read: the marks are recalled into
-- P:read, a SET that can be asked.
--
-- Marks take memory, so a large key is read in several passes, each for one part of all marks. A pass that began again covers
-- no more of its part than P:read may hold; the next passes cover the rest of the part.
--
-- In the job's record: `scan` the key's type while there is more to read; `scan_cursor` where to go on, behind an @ (without
-- one it is an older version's: a SET's cursor, or a rank); `scan_server` the process that the cursor belongs to; `scan_from`
-- and `scan_to` the marks of this pass, by their first 16 bits; `scan_parts`, `scan_marked` how many there are;
-- `scan_recalled` elements of P:marks that P:read holds, or 'all'; `scan_size` the key's size at the last read;
-- `scan_anchor` digest of a LIST's elements before the cursor, `scan_last` the last of them, `scan_head` and `scan_end` the
-- LIST's first and last element; `scan_again` 1 when a LIST has to be read once more, `scan_rounds` how often this pass has done
-- so; `scan_begun` how often the place was lost and nobody new was found since.

local Reading = {}  -- what later files use of it

do

local MARKS_END = 65536
local MARK_BYTES = 8
local COUNT_OF = {set = 'SCARD', zset = 'ZCARD', list = 'LLEN'}
local FIELDS = {'scan', 'scan_cursor', 'scan_server', 'scan_from', 'scan_to', 'scan_parts', 'scan_marked', 'scan_recalled',
  'scan_size', 'scan_anchor', 'scan_last', 'scan_begun', 'scan_end', 'scan_again', 'scan_rounds', 'scan_head'}

-- The size of a key of this type; nil when it is another's now, or in an encoding that can only be read or walked through as a
-- whole, which would hold everybody up. Then also that encoding, or a table when it may not be asked for.
local function size_of(kind, key)
  if redis.call('TYPE', key).ok ~= kind then return nil end
  local n = redis.call(COUNT_OF[kind], key)
  if kind == 'list' or n <= LIMIT.WHOLE_SET_MAX then return n end
  local encoding = redis.pcall('OBJECT', 'ENCODING', key)
  if encoding ~= (kind == 'set' and 'hashtable' or 'skiplist') then return nil, encoding end
  return n
end

-- What a cursor of SSCAN or ZSCAN belongs to: a process, and the encoding it gave the key. A LIST's index depends on neither.
local function server_of(kind, key)
  if kind == 'list' then return '' end
  local encoding = redis.pcall('OBJECT', 'ENCODING', key)
  return run_id() .. ':' .. (type(encoding) == 'string' and encoding or '')
end

-- A member's mark, and its first 16 bits.
local function mark_of(member)
  local digest = redis.sha1hex(member)
  local high = tonumber(string.sub(digest, 1, 8), 16)
  return struct.pack('>I4I4', high, tonumber(string.sub(digest, 9, 16), 16)), math.floor(high / 65536)
end

local function scan(command, key, cursor)
  local reply = redis.call(command, key, cursor, 'COUNT', LIMIT.MEMBERS_READ)
  return reply[2], reply[1] ~= '0' and reply[1] or nil
end

-- Elements of a list from an index on; nil when it is not where the last read ended, as the elements before it tell.
local function list_from(key, first, anchor)
  local before = math.min(first, LIMIT.ANCHOR)
  local elements = redis.call('LRANGE', key, first - before, first + LIMIT.MEMBERS_READ - 1)
  if anchor and anchor ~= '' and redis.sha1hex(table.concat(elements, '\n', 1, math.min(before, #elements))) ~= anchor then
    return nil
  end
  return {unpack(elements, before + 1)}
end

-- The index behind the last element that was read, looked for around where it was: elements that are pushed to one end and taken
-- from the other move it, and leave no trace in the list's length. nil when it is not there.
local function list_place(key, first, s)
  if s.last == '' then return nil end
  local from = math.max(0, first - LIMIT.PLACE_SEARCHED)
  local elements = redis.call('LRANGE', key, from, first + LIMIT.PLACE_SEARCHED)
  local n = LIMIT.ANCHOR
  for i = n, #elements do
    if elements[i] == s.last and redis.sha1hex(table.concat(elements, '\n', i - n + 1, i)) == s.anchor then
      return from + i
    end
  end
  return nil
end

-- The element of a list at 0, its first, or -1, its last; '' when it is too long to be kept.
local function end_of(key, index)
  local element = redis.call('LINDEX', key, index) or ''
  return #element <= LIMIT.USER_BYTES_MAX and element or ''
end

-- Notes a list's ends. Returns whether elements may have gone from one to the other since the last read, which ended at `first`:
-- unread ones in front of the place where it stands now, or read ones behind it. What is only pushed to the head changes neither
-- the end nor how many stand behind the place. How far the place moved tells nothing: others may have left the head.
local function went_round(s, key, first, place, size)
  local head, last = end_of(key, 0), end_of(key, -1)
  local is_so = first > 0 and head ~= s.list_head and (last ~= s.list_end or size - place < s.size - first)
  s.list_head, s.list_end = head, last
  return is_so
end

-- The next members of a list from s.cursor on, and the index of the first; as members_at for a place that is lost or moved.
local function list_members(s, key, size)
  local first = tonumber(s.cursor)
  local place, members = first, list_from(key, first, s.anchor)
  if not members then
    -- What was pushed to the list's head, or taken from it, moved everything by as much.
    place = math.max(0, first + size - s.size)
    members = list_from(key, place, s.anchor)
    place = members and place or list_place(key, first, s)
    if not place then return nil end
  end
  local has_gone_round = went_round(s, key, first, place, size)
  s.again = s.again or has_gone_round
  if (has_gone_round or not members) and not s.recalled and s.marked > 0 then
    s.cursor = text(place)
    return 'MOVED'
  end
  members = members or list_from(key, place, s.anchor)
  local n = #members
  if n >= LIMIT.ANCHOR then
    s.anchor = redis.sha1hex(table.concat(members, '\n', n - LIMIT.ANCHOR + 1, n))
    s.last = #members[n] <= LIMIT.USER_BYTES_MAX and members[n] or ''
  end
  return members, place
end

-- The next members, and where to go on, nil at the end; nothing when the place in a list is lost. When what was read may have
-- gone round to a list's other end, only the place in s.cursor, and MOVED.
local function members_at(s, key, size)
  if s.kind == 'set' then return scan('SSCAN', key, s.cursor) end
  if s.kind == 'zset' and not s.by_rank then
    local flat, cursor = scan('ZSCAN', key, s.cursor)
    local members = {}
    for i = 1, #flat, 2 do members[#members + 1] = flat[i] end
    return members, cursor
  end
  local first, members = tonumber(s.cursor), nil
  if s.by_rank then
    members = redis.call('ZRANGE', key, first, first + LIMIT.MEMBERS_READ - 1)
  else
    members, first = list_members(s, key, size)
    if not first then return members end
  end
  return members, #members == LIMIT.MEMBERS_READ and text(first + #members) or nil
end

-- Prepares a pass that leaves out who was read: of no more members than P:read may hold.
local function recall(s)
  if s.marked == 0 then return end
  local width = MARKS_END / s.parts
  local members = math.max(s.marked, s.size / s.parts) * (s.to - s.from) / width
  if members > LIMIT.RECALLED_MAX then
    s.to = s.from + math.max(1, math.floor((s.to - s.from) * LIMIT.RECALLED_MAX / members))
  end
  s.recalled = 0
end

-- Puts some more marks of this pass into P:read.
local function recall_more(p, s)
  local reads = redis.call('LRANGE', KEY.marks(p, s.source), s.recalled, s.recalled + LIMIT.RECALLED_READS - 1)
  for _, marks in ipairs(reads) do
    local wanted = {}
    for i = 1, #marks, MARK_BYTES do
      local high, low = string.byte(marks, i, i + 1)
      local place = high * 256 + low
      if place >= s.from and place < s.to then wanted[#wanted + 1] = string.sub(marks, i, i + MARK_BYTES - 1) end
    end
    if #wanted > 0 then redis.call('SADD', KEY.read(p, s.source), unpack(wanted)) end
  end
  s.recalled = #reads == LIMIT.RECALLED_READS and s.recalled + #reads or 'all'
end

local function begin_again(s)
  s.cursor, s.anchor, s.last, s.again = '0', '', '', false
  if not s.recalled then recall(s) end
end

-- Whether a list is to be read once more when its end is reached.
local function goes_on(s) return s.again and s.rounds < LIMIT.ROUNDS_MAX end

-- What was read of these marks before: a table of those that were.
local function known_among(p, s, marks, size)
  local known = {}
  if s.recalled == 'all' then
    for i, is_known in ipairs(redis.call('SMISMEMBER', KEY.read(p, s.source), unpack(marks))) do
      if is_known == 1 then known[marks[i]] = true end
    end
  elseif size < s.size and s.marked > 0 then
    -- A hash table that shrinks makes a scan return some of its last members again.
    local last = redis.call('LINDEX', KEY.marks(p, s.source), -1) or ''
    for i = 1, #last, MARK_BYTES do known[string.sub(last, i, i + MARK_BYTES - 1)] = true end
  end
  return known
end

-- Those members that this pass is for and that were not read before. Remembers them, unless all has been read.
local function unread_among(p, s, members, size, is_last)
  if is_last and s.marked == 0 and not s.recalled and s.parts == 1 then return members end
  local candidates, marks = {}, {}
  for _, member in ipairs(members) do
    local mark, place = mark_of(member)
    if place >= s.from and place < s.to then
      candidates[#candidates + 1], marks[#marks + 1] = member, mark
    end
  end
  if #marks == 0 then return candidates end
  local known = known_among(p, s, marks, size)
  local fresh, fresh_marks = {}, {}
  for i, mark in ipairs(marks) do
    if not known[mark] then fresh[#fresh + 1], fresh_marks[#fresh_marks + 1] = candidates[i], mark end
  end
  if #fresh == 0 or is_last then return fresh end
  if s.recalled then
    redis.call('SADD', KEY.read(p, s.source), unpack(fresh_marks))
  else
    redis.call('RPUSH', KEY.marks(p, s.source), table.concat(fresh_marks))
    s.marked = s.marked + #fresh_marks
  end
  return fresh
end

-- Goes to the next pass, or ends the reading.
local function end_pass(p, s)
  local width = MARKS_END / s.parts
  s.from, s.cursor, s.anchor, s.last, s.again, s.rounds = s.to, '0', '', '', false, 0
  if s.recalled then redis.call('UNLINK', KEY.read(p, s.source)) end
  s.recalled = nil
  s.to = (math.floor(s.from / width) + 1) * width
  if s.from % width == 0 then
    redis.call('UNLINK', KEY.marks(p, s.source))
    s.marked = 0
  else
    recall(s)
  end
  s.is_over = s.from >= MARKS_END
end

-- Where a job that is admitted begins to read; fields and values of its record.
local function begin(kind, key, n)
  local parts = 1
  while n > parts * LIMIT.MARKED_MAX and parts < LIMIT.PARTS_MAX do parts = parts * 2 end
  return {'scan', kind, 'scan_cursor', '@0', 'scan_server', server_of(kind, key), 'scan_from', 0, 'scan_to',
    text(MARKS_END / parts), 'scan_parts', parts, 'scan_marked', 0, 'scan_size', n}
end

-- Where a job reads on.
local function restore(record, source, key)
  local v = redis.call('HMGET', record, unpack(FIELDS))
  local cursor = string.match(v[2] or '@0', '^@(.*)')
  return {
    source = source, kind = v[1], cursor = cursor or v[2], by_rank = not cursor and v[1] == 'zset',
    server = v[3] or server_of(v[1], key), from = tonumber(v[4] or 0), to = tonumber(v[5] or MARKS_END),
    parts = tonumber(v[6] or 1), marked = tonumber(v[7] or 0), recalled = v[8] and (tonumber(v[8]) or v[8]) or nil,
    size = tonumber(v[9] or 0), anchor = v[10] or '', last = v[11] or '', begun = tonumber(v[12] or 0),
    list_end = v[13] or '', again = v[14] == '1', rounds = tonumber(v[15] or 0), list_head = v[16] or '',
  }
end

local function save(record, s)
  redis.call('HSET', record, 'scan_cursor', (s.by_rank and '' or '@') .. s.cursor, 'scan_server', s.server, 'scan_from',
    text(s.from), 'scan_to', text(s.to), 'scan_parts', text(s.parts), 'scan_marked', text(s.marked), 'scan_size',
    text(s.size), 'scan_anchor', s.anchor, 'scan_last', s.last, 'scan_begun', text(s.begun))
  if s.kind == 'list' then
    redis.call('HSET', record, 'scan_end', s.list_end, 'scan_again', s.again and '1' or '0', 'scan_rounds', text(s.rounds),
      'scan_head', s.list_head)
  end
  if s.recalled then
    redis.call('HSET', record, 'scan_recalled', s.recalled == 'all' and 'all' or text(s.recalled))
  else
    redis.call('HDEL', record, 'scan_recalled')
  end
end

-- Whether a scan would return again more than the members that were read last: the table of a key that shrank far has few
-- buckets, and a cursor goes back to the start of one.
local function has_shrunk(s, size)
  return s.kind ~= 'list' and not s.by_rank and s.marked > 0 and not s.recalled and size * LIMIT.SHRINKS_BY_MAX < s.size
end

-- Reads on. Returns members that were not read before, maybe none; nil when the place in a list was lost too often. At the end
-- s.is_over is true.
local function next_members(p, s, key, size)
  if type(s.recalled) == 'number' then
    recall_more(p, s)
    return {}
  end
  local server = server_of(s.kind, key)
  local is_lost = server ~= s.server and not s.by_rank or has_shrunk(s, size)
  s.server = server
  if is_lost then
    s.size, s.begun = size, s.begun + 1
    begin_again(s)
    return {}
  end
  local members, cursor = members_at(s, key, size)
  if members == 'MOVED' then
    s.size = size
    recall(s)
    return {}
  end
  if not members then
    if s.begun >= LIMIT.BEGUN_MAX then return nil end
    s.size, s.begun = size, s.begun + 1
    begin_again(s)
    return {}
  end
  local unread = unread_among(p, s, members, size, not cursor and s.to == MARKS_END and not goes_on(s))
  -- Whoever began again and finds users gets on.
  if #unread > 0 then s.begun = 0 end
  s.size = size
  if cursor then
    s.cursor = cursor
  elseif goes_on(s) then
    s.rounds = s.rounds + 1
    begin_again(s)
  else
    end_pass(p, s)
  end
  return unread
end

-- Forgets all of a reading: it has ended, or nobody wants it.
local function drop(p, record, source)
  redis.call('HDEL', record, unpack(FIELDS))
  redis.call('UNLINK', KEY.marks(p, source), KEY.read(p, source))
end

-- Tries everything that reading will do with a key: an error is raised for what an ACL or a cluster forbids.
local function try(kind, key)
  redis.call('INFO', 'server')
  members_at({kind = kind, cursor = '0', anchor = '', last = ''}, key, 0)
end

Reading.is_readable = function(kind) return COUNT_OF[kind] ~= nil end
Reading.size_of = size_of
Reading.try = try
Reading.begin = begin
Reading.restore = restore
Reading.save = save
Reading.next_members = next_members
Reading.drop = drop

end
