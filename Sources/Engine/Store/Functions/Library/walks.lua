-- A walk over the keys of the whole database, a page a call. Each key that is there throughout comes up, some twice.

local Walk = {}  -- what later files use of it

do

-- A text as a pattern of Redis that matches nothing else.
local function escaped(pattern) return (string.gsub(pattern, '[%*%?%[%]\\]', '\\%0')) end

-- Runs a command whose right the caller may lack, and names that right: Redis says only that there is one.
local function permitted(...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if string.find(reply.err, "can't run this command", 1, true) then
    error({err = "NOPERM this user has no permissions to run the '" .. string.lower((...)) .. "' command"})
  end
  error(reply)
end

-- The next keys that begin with a text, and how far the walk is: {cursor, '' at its end; server; keys in the database; 1 when
-- the walk begins again}. The cursor and the server are those of the last page; both '' to begin. A cursor means nothing in
-- another server process: then the walk begins again.
local function page(start, cursor, server, count)
  local here = run_id()
  local begins_again = cursor ~= '' and server ~= here
  if cursor == '' or begins_again then cursor = '0' end
  local reply = permitted('SCAN', cursor, 'MATCH', escaped(start) .. '*', 'COUNT',
    count or LIMIT.WALKED_AT_ONCE)
  return reply[2], {reply[1] == '0' and '' or reply[1], here, permitted('DBSIZE'), begins_again and 1 or 0}
end

Walk.page = page

end
