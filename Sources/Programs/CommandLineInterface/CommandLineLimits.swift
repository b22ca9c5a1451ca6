internal import Operations

/// The limits of the command line.
enum CommandLineLimits {
  /// How often a repeatable command is tried while Redis is away.
  static let redisAttemptsMax = 10
  static let redisRetryMs: UInt64 = 200
  static let redisReconnectTimeoutMs: UInt64 = 30_000
  /// A terminal's progress is repainted no more often than this.
  static let paintIntervalMs = 100
  /// Where there is no terminal, a line of progress is written no more often than this.
  static let plainIntervalMs = 5_000
  /// Batches of an import that are sent and not yet answered.
  static let importBatchesInFlight = 32
  static let readBytes = 256 * 1024
  /// How often what waits for its input looks whether a signal has come.
  static let signalCheckMs: Int32 = 100
  /// How often an import writes down how far it is.
  static let positionIntervalMs = 1_000
  /// The refused lines that an import repeats on the terminal; `--rejects` has all.
  static let rejectsShownMax = 20
  /// The reasons that the report of an import names.
  static let importReasonsMax = 20
  /// The most dead letters that one list shows.
  static let deadPage = OperationsLimits.deadPage
  /// Switches that status, and other remarks, name; the list names all.
  static let switchesNamedMax = 10
  /// Workers that status names in a line.
  static let workersNamedMax = 10
  /// Events of a trace that are shown of a subject, and of a whole job.
  static let traceEvents = 100
  static let traceSummaryEvents = 20
  /// Dead letters that a command notes one by one in the list of acts; of more it notes how many.
  static let namedActsMax = 100
  // The live screen
  static let topIntervalSecondsMax = 3_600
  /// How long a person waits for what a key does; a signal too.
  static let topKeyMs: Int32 = 100
  /// Counters that one look reads: those of 250 apps that use all networks.
  static let topSeriesMax = 5_000
  static let topRowsMax = 1_000
  static let topColumnsMin = 20
  static let topLinesMin = 4
}
