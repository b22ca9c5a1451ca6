-- Chunks. A chunk is {priority, app, job, segment, source, lines, crashes}; lines says what a line of its
-- segment is: 'users' or 'installations'. The last lines of users can be installations: what is left of users that are
-- done but for these. A job's own segments are numbers; r<n> are residuals (installations), u<n>
-- retried dead letters that still are users. Behind it may stand a round (rounds.lua).

local Chunk = {}  -- what later files use of it

do

local function chunk_of(priority, fields)
  return {
    priority = priority, app = fields.app, job = fields.job, segment = fields.segment,
    source = fields.source, lines = fields.lines, crashes = tonumber(fields.crashes) or 0,
  }
end

local function pack(c)
  return cjson.encode({c.priority, c.app, c.job, c.segment, c.source, c.lines, c.crashes})
end

local function unpack_chunk(member)
  local v = cjson.decode(member)
  return {priority = v[1], app = v[2], job = v[3], segment = v[4], source = v[5], lines = v[6], crashes = v[7]}
end

-- The segment of what is no chunk: it waits in the delayed set for its job to go on, with an audience or its parked chunks.
local READ_ON = '+'

local function read_on_of(c)
  return pack({priority = c.priority, app = c.app, job = c.job, segment = READ_ON, source = c.source, lines = c.lines,
    crashes = 0})
end

-- Lets a promotion go on with the job of a chunk, at a time.
local function go_on_later(p, c, due) redis.call('ZADD', KEY.delayed(p), text(due), read_on_of(c)) end

-- Lets it do so at a time, or earlier where it was to.
local function go_on_by(p, c, due) redis.call('ZADD', KEY.delayed(p), 'LT', text(due), read_on_of(c)) end

-- Lets it do so at another time than it was to; nothing where it was to at none.
local function go_on_at(p, c, due) redis.call('ZADD', KEY.delayed(p), 'XX', text(due), read_on_of(c)) end

-- Lets none.
local function go_on_no_more(p, c) redis.call('ZREM', KEY.delayed(p), read_on_of(c)) end

local function is_residual(c) return string.find(c.segment, '^%d') == nil end

Chunk.of = chunk_of
Chunk.pack = pack
Chunk.unpack = unpack_chunk
Chunk.READ_ON = READ_ON
Chunk.is_residual = is_residual
Chunk.go_on_later = go_on_later
Chunk.go_on_by = go_on_by
Chunk.go_on_at = go_on_at
Chunk.go_on_no_more = go_on_no_more

end
