-- Every limit of the functions, with its unit last in its name. Those that a Swift file names too are of one value.

local DAY_S = 86400

local LIMIT = {
  SEGMENT_S = 30 * DAY_S,               -- orphan guard: also how long a job may stay paused
  RECORD_S = 7 * DAY_S,                 -- how long a finished job can be read (and its dead chunks retried)
  METRICS_S = 2 * DAY_S,
  TRACE_S = 2 * DAY_S,                  -- how long a job's trace lives after its last event
  TRACE_BYTES_MAX = 8 * 1024 * 1024,    -- of one job's trace: beyond it the oldest events go
  TRACE_ENTRY_BYTES = 96,               -- what an entry costs beside its lines
  LIBRARY_S = DAY_S,                    -- how long a library stays that no worker uses
  WORKER_S = 120,                       -- a worker's HASH outlives this many seconds without a beat
  NOTICES_MAX = 100000,                 -- length of the bounded streams
  CRASHES_MAX = 5,                      -- a chunk or job that lost this many workers is a dead letter
  RESIDUAL_BYTES_MAX = 32 * 1024 * 1024,  -- of one job: beyond it no new chunk starts
  INSTALLATIONS_PER_USER_MAX = 100,
  EXCERPT_BYTES = 4096,                 -- what a dead letter keeps of an oversize job
  TAKEN_BYTES_MAX = 1024 * 1024,        -- job text in one reply: no further job is taken beyond it
  REFUSED_MAX = 64,                     -- entries that are no jobs, made dead letters by one call
  AUDIT_MAX = 20000,                    -- chunks in Redis beyond which an audit would hold everybody up
  SEGMENTS_MAX = 4000,                  -- of one job's text: Limits.usersPerJobMax, 256 each
  UPLOADED_PAGE = 500,                  -- uploaded segments that are removed by one command
  SEGMENT_USERS_MAX = 256,              -- Limits.chunkRecipientsMax
  USER_BYTES_MAX = 256,                 -- Limits.userBytesMax
  MEMBERS_READ = 500,                   -- of a users_key by one read: two chunks, as SSCAN gives a few more than asked
  READS_MAX = 4,                        -- reads of one call while they find no user
  WHOLE_SET_MAX = 2048,                 -- members of a set in a compact encoding: SSCAN gives them all at once
  AHEAD_MIN = 64,                       -- chunks that may wait in a stream, or as many as are worked on
  SHARE = 32,                           -- chunks of an app in a stream that are added however many wait there
  BACKLOG_MIN = 64,                     -- entries in a stream from which on the scout looks ahead
  SCOUTED_MAX = 1500,                   -- entries the scout looks at in one call: 2 ms
  SCOUTED_AT_ONCE = 4,                  -- by one command, while none of them is large
  SCOUTED_BYTES_MAX = 256 * 1024,
  SCOUT_MS = 5,                         -- from one look of the fleet to the next
  GLANCE_BYTES = 4096,                  -- of a job's beginning and end that are searched for its app
  EXPRESS_PER_APP = 16,                 -- entries of an app that are known to be next
  EXPRESS_APPS_MAX = 1000,
  TURNS_MAX = 64,                       -- apps passed over in one call because they have their share
  HELD_MS = 20,                         -- how soon a lane asks again for jobs that are held back
  READY_MS = 60000,                     -- how soon a chunk that waits for room is looked for again in the delayed set
  READY_S = 600,                        -- an order of due chunks that nobody renews for so long is gone
  READY_GONE_MAX = 64,                  -- entries of that order that one call passes over because their chunk is gone
  FILLED_MAX = 8,                       -- due chunks that a claim moves into a stream
  READS_PROMOTED_MAX = 2,               -- audiences that one promotion reads on in
  PROMOTER_MS = 600,                    -- for so long the promoting stays with who did it last
  ALIVE_MS = 2000,                      -- a worker beats each second
  OWNERS_SEEN_MAX = 64,                 -- abandoned entries whose owners are looked at by one search
  PASSED_OVER_MAX = 64,                 -- chunks of cancelled, paused or held jobs that one claim clears away
  SUSPICION_PERCENT = 5,                -- of a minute's answers: so many misfits, and no token is believed dead
  SUSPICION_MISFITS_MIN = 50,           -- ... if they are at least so many
  TALLY_S = 180,                        -- how long a minute's answers are kept: it and the next are judged by them
  ALARMS_MAX = 256,
  ALARM_MS_MAX = 600000,                -- an alarm that nobody renews for so long is gone
  -- switches
  SWITCHED_OFF_MS = 2000,               -- how soon a held chunk is looked at again, when few are held
  DELAYED_PER_MS = 4,                   -- and one ms later for so many delayed chunks: looking must stay cheap
  SWITCHES_LOOKED_MAX = 8192,           -- fields looked at when there are more than are honoured
  -- rates
  RATE_BURST_S = 0.1,                   -- a bucket holds what so many seconds bring
  RATE_RAMP_FROM = 0.2,                 -- the share of its rate that a rate with a ramp begins with
  RATE_IDLE_MS = 10000,                 -- and begins with again after so long without a lease
  RATE_WAIT_MS_MAX = 1000,
  RATE_LIFE_S = 60,                     -- an untouched bucket is full long before
  -- waiting
  SEARCHED_MAX = 500,                   -- entries that a search looks at in one call: 1 to 2 ms
  SEARCHED_BYTES = 64 * 1024,           -- a larger job is looked into by whoever searches: not at everybody's cost
}
