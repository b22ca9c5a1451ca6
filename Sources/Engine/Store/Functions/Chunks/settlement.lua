-- Settling a chunk
--
-- Accounting: total = accepted + rejected + uninstalled + expired + skipped + failed + pending, always. A user
-- not yet resolved stands in total and in pending as one. The caller says by how much total changes (a user
-- with n installations: n - 1; without any: -1; an installation line: 0) and which outcomes were reached; the
-- change of pending follows from the two, so the sum cannot break (change_pending). What goes into a residual has no
-- outcome yet and so stays pending until the residual is settled; so does what stays with the chunk as a line of its own.

do

local function count_outcomes(p, app, job, counts, now)
  local key = KEY.job(p, app, job)
  local sum = 0
  for i = 1, #counts, 3 do
    local n = tonumber(counts[i + 2])
    if n > 0 then
      redis.call('HINCRBY', key, counts[i + 1], n)
      sum = sum + n
    end
  end
  Metrics.count(p, app, counts, now)
  return sum
end

local function residual_of(c, segment)
  return {priority = c.priority, app = c.app, job = c.job, segment = segment, source = c.source,
    lines = 'installations', crashes = 0}
end

-- Makes installations a chunk of their own, to be sent to later.
local function add_residual(p, c, lines)
  local key = KEY.job(p, c.app, c.job)
  local segment = Rounds.name('r' .. text(redis.call('HINCRBY', key, 'residuals', 1)), Rounds.of(c.segment))
  redis.call('SET', KEY.segment(p, segment, c.source), lines)
  redis.call('HINCRBY', key, 'chunks', 1)
  redis.call('HSET', KEY.unfinished(p, c.source), segment, '')
  redis.call('HINCRBY', key, 'residual_bytes', #lines)
  return residual_of(c, segment)
end

-- Makes installations a chunk that is due then, or adds them to what another settlement made of some: where a network is in
-- trouble each chunk leaves a few, and a chunk for each few costs more than sending to them. The record's `later` names the
-- latest such chunks, as <due>|<segment>.
local function add_joined(p, c, lines, due, now)
  local key, round = KEY.job(p, c.app, c.job), Rounds.of(c.segment)
  local kept = {}
  for at, segment in string.gmatch(redis.call('HGET', key, 'later') or '', '(%d+)|(%S+)') do
    local is_same = tonumber(at) == due and Rounds.of(segment) == round
    local name = KEY.segment(p, segment, c.source)
    -- While it waits nobody has read its lines.
    if is_same and redis.call('ZSCORE', KEY.delayed(p), Chunk.pack(residual_of(c, segment))) == at
      and redis.call('STRLEN', name) + #lines <= LIMIT.JOINED_BYTES_MAX then
      redis.call('APPEND', name, lines)
      redis.call('HINCRBY', key, 'residual_bytes', #lines)
      return
    end
    if not is_same and tonumber(at) > now and #kept < LIMIT.JOINED_MAX - 1 then kept[#kept + 1] = at .. '|' .. segment end
  end
  local residual = add_residual(p, c, lines)
  Chunks.route(p, residual, now, due)
  table.insert(kept, 1, text(due) .. '|' .. residual.segment)
  redis.call('HSET', key, 'later', table.concat(kept, ' '))
end

-- The rows of `unrouted` for which no worker has credentials, or had lately: they are skipped, and added to counts as such.
-- While the fleet gathers they are put off instead, for nobody knows yet.
-- Returns what becomes of those rows, by position ('skipped', or after how many ms they are looked at again), and the places
-- of the skipped as words of a reply.
local function judge_unrouted(p, app, args, first, last, counts)
  local fates, words = {}, {}
  for i = first, last, 4 do
    local place = args[i] .. '|' .. args[i + 1]
    if not Routes.could_send(p, app .. '|' .. place) then
      if Routes.is_gathering(p) then
        fates[i] = LIMIT.ROUTE_ALIVE_MS
      else
        local n = #counts
        counts[n + 1], counts[n + 2], counts[n + 3] = args[i], 'skipped', lines_in(args[i + 3])
        fates[i] = 'skipped'
        words[#words + 1] = 'skipped|' .. place
      end
    end
  end
  return fates, words
end

-- Sets aside what is to be sent to later: after a delay, or once a worker has credentials.
local function add_residuals(p, c, args, first, last, fates, now)
  for i = first.residuals, last.residuals, 3 do
    local delay, joins, lines = tonumber(args[i]), args[i + 1], args[i + 2]
    if joins == '1' and delay > 0 then
      add_joined(p, c, lines, math.ceil((now + delay) / LIMIT.JOINED_MS) * LIMIT.JOINED_MS, now)
    else
      Chunks.route(p, add_residual(p, c, lines), now, now + delay)
    end
  end
  for i = first.unrouted, last.unrouted, 4 do
    local fate = fates[i]
    if not fate then
      Routes.hold(p, add_residual(p, c, args[i + 3]), c.app .. '|' .. args[i] .. '|' .. args[i + 1],
        tonumber(args[i + 2]), now)
    elseif fate ~= 'skipped' then
      Chunks.route(p, add_residual(p, c, args[i + 3]), now, now + fate)
    end
  end
end

-- Installations of users that are done without them become the chunk's last lines, each with its own bit of the bitmap.
local function keep_open(p, c, lines)
  local segment = KEY.segment(p, c.segment, c.source)
  -- Of a segment whose time was over nothing may come back: it would have no end.
  if redis.call('EXISTS', segment) == 0 then return end
  redis.call('APPEND', segment, lines)
  if Chunk.is_residual(c) then redis.call('HINCRBY', KEY.job(p, c.app, c.job), 'residual_bytes', #lines) end
end

-- Whether the chunk's last lines are those that this settlement leaves open, if it does: what its bitmap says may also have
-- been told by another worker, whose users had other devices open.
local function has_kept_open(p, c, lines)
  return not lines or redis.call('GETRANGE', KEY.segment(p, c.segment, c.source), -#lines, -1) == lines
end

-- What becomes of invalid tokens: removed, kept, or spared where a mass death is assumed. Adds them to counts.
-- Returns how many of each, and r, k or s for each of them.
local function judge_invalid(p, c, args, first, last, mass_deaths, counts)
  local removed, kept, spared, fates, sums, allowance = 0, 0, 0, {}, {}, {steps = LIMIT.LEFT_AT_ONCE}
  for i = first, last, 7 do
    local network, environment, token, user, generation, since, reason = unpack(args, i, i + 6)
    local fate = 's'
    if mass_deaths[network .. '|' .. environment] then
      spared = spared + 1
    elseif Installations.remove_invalid(p, c.app, network, token, user, generation, since, reason, c.job,
      allowance) == 'removed' then
      fate, removed = 'r', removed + 1
    else
      fate, kept = 'k', kept + 1
    end
    fates[#fates + 1] = fate
    local outcome = fate == 'r' and 'uninstalled' or 'rejected'
    local at = sums[network .. outcome]
    if not at then
      at = #counts + 3
      counts[at - 2], counts[at - 1], counts[at], sums[network .. outcome] = network, outcome, 0, at
    end
    counts[at] = counts[at] + 1
  end
  return removed, kept, spared, fates
end

local SETTLE = Sections.layout('settle', {chunk = 8, progress = 6, counts = 3, residuals = 3, unrouted = 4, open = 1,
  tallies = 4, labels = 5, invalid = 7}, {'chunk', 'progress'})

-- settle — ARGV: sections, of these columns.
--   chunk, one row: which chunk it is, as it was claimed
--     consumer, priority, entry, app, job, segment, source
--     lines: users|installations, what a line of its segment is
--   progress, one row
--     final: 1 when the chunk is finished; 2 when all that is left of it waits for answers, and has for a while; else 0
--     done: bitmap of the lines that are done, those of earlier settlements included; not looked at when final
--     told: bitmap that the caller told before, or found when it claimed; '-' to not compare
--     total: by how much the number of installations differs from that of users
--     no_installations: users without any
--     retries: attempts beyond the first of each push
--   counts: an outcome that was reached
--     network ('none' when it is not known), outcome, count
--   residuals: installations that are to be tried again
--     delay: ms
--     joins: 1 when they may come with those of other settlements, and up to JOINED_MS later, else 0
--     lines: of a chunk of theirs
--   unrouted: installations that the caller has no credentials for
--     network, environment
--     wait: ms that they wait for a worker that has
--     lines: of their own chunk
--   open, one row at most: installations of users that are done without them
--     lines: they become the chunk's last
--   tallies: what a network answered, to be judged for a mass death
--     network, environment, answers
--     misfits: answers that say that token and environment, topic or sender do not fit
--   labels: an installation that another environment has accepted
--     network, token, user, generation
--     environment: the right one
--   invalid: a token that its network called invalid
--     network, environment, token, user, generation
--     since: when it died, by the network's word (ms), or ''
--     reason: the network's
-- All of it is news since the last settle of this chunk. News always brings new bits in the bitmap, so the bitmaps tell
-- whether it may be counted:
--   done is what the store has, and not final: a repetition after a lost reply. Nothing is counted, the lease is renewed.
--     But when the open lines are not the chunk's last, another worker told the same bits with other devices open: STALE.
--   told is not what the store has: somebody else had the chunk in between, and may have counted the same. STALE.
-- An invalid token counts as uninstalled when it is removed. It counts as rejected when its binding has changed, or when it
-- is spared because a mass death is assumed.
-- Reply: {OK|PAUSED|CANCELLED|STALE, removed, kept, spared, users lost with the job's key}, and when there is more to
-- say, what became of each token (r: removed, k: kept, s: spared, in one text), the network|environment of mass deaths…, and
-- skipped|network|environment… (residuals for which no worker has credentials); STALE: nothing was counted, stop the chunk.
local function settle(keys, args)
  local p, now = keys[1], now_ms()
  local first, last = Sections.read(args, SETTLE)
  local consumer, priority, entry, app, job, segment, source, lines = unpack(args, first.chunk, last.chunk)
  local final, done, told, total, no_installations, retries = unpack(args, first.progress, last.progress)
  local open = args[rawget(first, 'open')]
  local c = {priority = priority, app = app, job = job, segment = segment, source = source, lines = lines, crashes = 0}
  local stream = KEY.chunks(p, priority)
  if not owned(stream, entry, consumer) then
    Chunks.note_open(p, app, job)
    return {'STALE', 0, 0, 0, 0}
  end
  local state = Chunks.state_for(p, c)
  if state == 'gone' then
    Fairness.drop_chunk(p, c, entry)
    Chunks.close_chunk(p, c, now)
    return {'CANCELLED', 0, 0, 0, 0}
  end
  local answer = (state == 'paused' and 'PAUSED') or (state == 'cancelled' and 'CANCELLED') or 'OK'
  local is_final = final == '1'
  local known = redis.call('GET', KEY.done(p, segment, source)) or ''
  if not is_final and known == done then
    if not has_kept_open(p, c, open) then return {'STALE', 0, 0, 0, 0} end
    redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
    return {answer, 0, 0, 0, final == '2' and Chunks.go_on_beside(p, c) or 0}
  end
  if told ~= '-' and told ~= known then return {'STALE', 0, 0, 0, 0} end
  refuse_wrong_type(KEY.delayed(p), 'zset')
  refuse_wrong_type(KEY.finished(p), 'stream')
  local key = KEY.job(p, app, job)
  local counts = {unpack(args, first.counts, last.counts)}
  local mass_deaths = MassDeath.places(p, app, args, first.tallies, last.tallies, now)
  for i = first.labels, last.labels, 5 do Installations.relabel(p, app, unpack(args, i, i + 4)) end
  local removed, kept, spared, token_fates =
    judge_invalid(p, c, args, first.invalid, last.invalid, mass_deaths, counts)
  local fates, words = judge_unrouted(p, app, args, first.unrouted, last.unrouted, counts)
  local sum = count_outcomes(p, app, job, counts, now)
  redis.call('HINCRBY', key, 'total', total)
  Chunks.change_pending(p, app, job, tonumber(total) - sum, now)
  if no_installations ~= '0' then redis.call('HINCRBY', key, 'no_installations', no_installations) end
  if retries ~= '0' then redis.call('HINCRBY', key, 'retries', retries) end
  add_residuals(p, c, args, first, last, fates, now)
  if open then keep_open(p, c, open) end
  local lost = 0
  if is_final then
    Fairness.drop_chunk(p, c, entry)
    lost = Chunks.close_chunk(p, c, now)
  else
    redis.call('SET', KEY.done(p, segment, source), done)
    redis.call('XCLAIM', stream, GROUP, consumer, 0, entry, 'JUSTID')
    if final == '2' then lost = Chunks.go_on_beside(p, c) end
  end
  local reply = {answer, removed, kept, spared, lost}
  if #token_fates > 0 or next(mass_deaths) or #words > 0 then reply[6] = table.concat(token_fates) end
  for place in pairs(mass_deaths) do reply[#reply + 1] = place end
  for _, word in ipairs(words) do reply[#reply + 1] = word end
  return reply
end

register('settle', settle, {'allow-oom'})

end
