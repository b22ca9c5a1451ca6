internal import Model

/// The limits of the server. Those that callers meet are told in docs/reference/http-api.md.
package enum ServerLimits {
  // A request
  /// Bytes of all header fields.
  package static let headerBytesMax = 16 * 1_024
  package static let headerFieldsMax = 100
  /// Until the end of the header fields.
  package static let headerSeconds = 10
  /// Between two requests of a connection, and between two parts of a body.
  package static let idleSeconds = 60
  /// For a whole body; a large one may take longer, by `bodyBytesPerSecondMin`.
  package static let bodySeconds = 10
  package static let bodyBytesPerSecondMin = 64 * 1_024
  package static let bodyBytesMax = 1 << 20
  /// Of a request that takes no body: an empty object and some spaces.
  static let emptyBodyBytesMax = 64
  /// NDJSON of a batch.
  package static let batchBytesMax = 16 << 20
  package static let batchLinesMax = 10_000
  /// A job, and a batch of installations, may be larger than other bodies: of all that are read at a time so many bytes.
  package static let bodiesBytesMax = 128 << 20
  /// As much of it as one caller may have, and as is kept for bodies of at most `reservedBodyBytesMax`.
  package static let callersBodiesBytesMax = 32 << 20
  static let smallBodiesBytesKept = 16 << 20
  /// Larger bodies are dealt with one at a time.
  static let smallBodyBytesMax = 256 * 1_024
  package static let connectionsMax = 10_000
  package static let pathBytesMax = 8 * 1_024
  package static let queryFieldsMax = 20

  // Redis
  /// How often a step is tried while Redis loses answers, and the time until the next try and for a lost connection.
  package static let redisTriesMax = 3
  package static let redisRetryMs: UInt64 = 250
  package static let redisReconnectMs: UInt64 = 2_000

  // A list
  package static let listMax = 200
  package static let listUsual = 50

  // Installations
  /// Installations of a batch that are with Redis at a time: 3 ms of its time.
  package static let batchAtOnce = 64
  /// How often a change to an installation is made anew because somebody else has changed the same one meanwhile.
  package static let patchTriesMax = 8
  // Jobs
  /// As long as a job may be.
  package static let jobBytesMax = Limits.jobBytesMax
  /// A body that says how something is to be done, and brings nothing.
  package static let controlBytesMax = 64 * 1_024
  /// For the search among the jobs that wait for a worker.
  package static let searchSeconds = 2
  /// Device tokens of one preview.
  package static let previewedTokensMax = 20
  package static let traceEventsUsual = 100

  // Dead letters
  /// Letters that one page of a list looks at, however few it is to show.
  package static let listedLettersMax = 10_000
  /// Letters that are looked at to count those of a filter.
  package static let countedLettersMax = 100_000
  /// Letters that one request retries or drops, and for how long.
  package static let changedLettersMax = 10_000
  package static let changeSeconds = 5
  /// Groups of a summary, and letters that could not be retried of which the answer tells.
  package static let letterGroupsMax = 200
  package static let toldLettersMax = 100
  package static let reasonBytesMax = 256

  // Charts
  package static let chartMinutesMax = 1_440
  package static let chartMinutesUsual = 60
  /// Points of a timeline; of more some are left out.
  package static let timelinePointsMax = 720
  /// Entries that are read for a timeline: as many as Redis keeps.
  package static let timelineReadMax = 10_000
  /// Series of a chart: each is of one network and one outcome.
  package static let chartSeriesMax = 200
  /// Upper bounds of answer times: workers have 14.
  package static let chartBoundsMax = 64
  /// Apps in Redis of whose rates is told: the first by name.
  package static let redisAppsToldMax = 200
  /// Rates of which the fleet's state tells.
  package static let toldRatesMax = 200
  // Who calls
  /// How long a server believes what it has read of a key or of a browser's session: the longest that a revoked one works.
  package static let keyBelievedMs: UInt64 = 5_000
  /// Keys, and sessions of browsers, that a server remembers; and names of which it remembers that they are none.
  static let rememberedMax = 10_000
  /// How long a browser need not show its key again.
  package static let sessionSeconds = 43_200
  /// A user token (JWT), and how far ahead it may end.
  package static let userTokenBytesMax = 4_096
  package static let userTokenSecondsMax = 86_400
  /// User tokens whose verification is remembered, and for how long at most.
  static let userTokensRememberedMax = 50_000
  static let userTokenKeptMs: UInt64 = 60_000
  /// How far the clocks of those who sign user tokens may be off.
  package static let clockLeewaySeconds = 60
  /// Keys for user tokens that one token may be checked with.
  package static let userTokenKeysMax = 8
  /// Entries of `x-forwarded-for` that are read, from its end.
  static let forwardedMax = 32
  /// A body with a key, or with what a key is to be.
  static let keyBodyBytesMax = 4_096

  // Rates: requests a second, and how many may come at once
  package static let serverKeyPerSecond = 20_000.0
  package static let serverKeyBurst = 40_000.0
  package static let operatorKeyPerSecond = 200.0
  package static let operatorKeyBurst = 1_000.0
  package static let devicePerSecond = 20.0
  package static let deviceBurst = 100.0
  /// Of one address, without a key.
  package static let openPerSecond = 200.0
  package static let openBurst = 1_000.0
  /// Of one address, with a key that is none.
  package static let failurePerSecond = 10.0
  package static let failureBurst = 50.0
  /// Sessions that browsers begin with one key.
  package static let signInPerSecond = 1.0
  package static let signInBurst = 20.0
  /// Callers of one plan whose rates are kept apart at a time. Further addresses without a key share a rate, and further callers
  /// with one are not counted.
  static let ratedCallersMax = 50_000
  /// Requests of one caller that read much of Redis: how many run at a time, and how many wait.
  package static let searchesMax = 4
  package static let waitingSearchesMax = 256
  // The listener
  /// Memory that is set aside for a body before it comes.
  package static let reservedBodyBytesMax = 64 * 1_024
  /// A connection is ended when the system takes nothing of its answer for so long. The system has buffers: it takes some
  /// hundred KiB ahead of a slow client, and then nothing until the client has taken a good part of these.
  package static let stuckSeconds = 60
  /// How often the pace of a body that is late is looked at.
  package static let bodyCheckSeconds = 1
  /// For how long, and of how many bytes, what a client still sends is read and thrown away after the last answer: it would
  /// lose that answer otherwise.
  package static let lingerSeconds = 2
  package static let lingerBytesMax = 1 << 20
  package static let metricsConnectionsMax = 100
  /// Descriptors that are kept back for what is no connection of a client.
  package static let descriptorsKept = 64
  /// How long requests in hand may take when the server ends.
  package static let stopSeconds = 10
  /// How long open connections may send another request when the server ends. Its answer is the last of its connection, so a
  /// client with something to send meets no connection that is being closed.
  static let drainMs = 2_000
  /// How often it is looked whether all are closed.
  static let drainLookMs = 50
  /// Redis is ready when it answers within so long.
  package static let readySeconds = 2
  /// How long an answer to that, and a reading of the metrics, are told again.
  package static let readyKeptMs = 500
  package static let metricsKeptMs = 1_000
  // The dashboard's feed
  /// Pages that listen at a time.
  package static let feedListenersMax = 500
  /// A page that takes no part of its stream for so long is dropped.
  package static let feedSlowSeconds = 30
  /// The longest silence of a stream.
  package static let feedHeartbeatSeconds = 15
  /// After so long a stream ends, and its page comes back with its cookie: whether it may look is asked again.
  package static let feedLifeSeconds = 300
  /// How often it is asked of an open stream whether its page still may look.
  package static let feedRightsSeconds = 5
  /// How long Redis is read after the last question of a page that has no stream.
  package static let feedPollSeconds = 10
  /// A reading that takes longer counts as an absence of Redis until it ends.
  package static let feedReadingSeconds = 5
  /// How often pages are told of the time.
  package static let feedClockSeconds = 5
  /// After how long a page is to open its stream again.
  package static let feedRetryMs = 2_000
  package static let feedJobsMax = 200
  package static let feedEndedJobsMax = 20
  package static let feedWorkersMax = 200
  /// Workers that a sentence about many names.
  package static let feedNamesMax = 5
  package static let feedOutcomesMax = 500
  package static let feedAlarmsMax = 200
  package static let feedSwitchesMax = 200
  package static let feedRatesMax = 200
  /// Bytes of one text of another program, such as an alarm's sentence.
  package static let feedTextBytesMax = 2_048
  /// Minutes of the fleet that the overview looks back on.
  package static let historyMinutes = 60
  /// Entries of the timeline that are read for them: every worker adds one each 10 s.
  package static let historyEntriesMax = 8_640
  /// Jobs whose pace is kept, and for how long after they were last seen.
  package static let paceJobsMax = 200
  package static let paceKeptMs: Int64 = 600_000
  /// Points of one job's pace: with more, every second one goes.
  package static let pacePointsMax = 120
  /// Over how long the pace of now is measured.
  package static let paceWindowMs: Int64 = 10_000
}
