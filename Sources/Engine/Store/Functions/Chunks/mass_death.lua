-- Mass death. Tokens that die by the hundred in a minute are no deaths but a mistake of ours: the wrong environment,
-- topic or sender. The fleet's answers of each app, network and environment are therefore counted by the minute, and
-- while too many of this or the last minute's are misfits, no verdict removes anything there.

local MassDeath = {}  -- what later files use of it

do

local function add_tally(p, app, place, answers, misfits, now)
  local key = KEY.tally(p, app, place, minute_of(now))
  -- What counts must not be able to stop the work.
  redis.pcall('HINCRBY', key, 'answers', answers)
  redis.pcall('HINCRBY', key, 'misfits', misfits)
  redis.pcall('EXPIRE', key, LIMIT.TALLY_S)
end

-- Answers and misfits of the first of this minute and the last in which a mass death is assumed, or nil.
local function mass_death(p, app, place, now)
  for _, ms in ipairs({now, now - 60000}) do
    local r = redis.pcall('HMGET', KEY.tally(p, app, place, minute_of(ms)), 'answers', 'misfits')
    local answers, misfits = tonumber(r[1] or '0') or 0, tonumber(r[2] or '0') or 0
    if misfits >= LIMIT.MASS_DEATH_MISFITS_MIN and misfits * 100 >= answers * LIMIT.MASS_DEATH_PERCENT then
      return answers, misfits
    end
  end
  return nil
end

-- The places of a settlement where a mass death is assumed, as a set; raises an alarm for each.
local function mass_deaths(p, app, args, first, last, now)
  local places = {}
  for i = first, last, 4 do
    local place = args[i] .. '|' .. args[i + 1]
    add_tally(p, app, place, args[i + 2], args[i + 3], now)
    local answers, misfits = mass_death(p, app, place, now)
    if answers then
      places[place] = true
      Alarms.set(p, 'mass_death|' .. app .. '|' .. place, 'settle', 120000, app .. ': ' .. text(misfits) .. ' of ' ..
        text(answers) .. ' answers of a minute on ' .. args[i] .. ' (' .. args[i + 1] .. ') say that the device ' ..
        'token does not fit the environment, topic or sender: no installation is removed there; check the ' ..
        'configuration', now)
    end
  end
  return places
end

MassDeath.tally = add_tally
MassDeath.places = mass_deaths

end
