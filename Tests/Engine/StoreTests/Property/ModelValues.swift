import Model

@testable import Store

/// A chunk as its stream entry describes it.
struct ModelChunk: Hashable {
  var job: String
  var segment: String
  var source: String
  var priority: Priority
  var lines: ChunkLines
  var crashes = 0

  var isResidual: Bool { segment.first?.isNumber != true }
  var place: SegmentPlace { SegmentPlace(segment: segment, source: source) }
}

/// What names a segment.
struct SegmentPlace: Hashable {
  let segment: String
  let source: String
}

/// A segment that exists: its recipients, and which of them are done.
struct ModelSegment {
  var recipients: [String]
  var done = DoneBitmap()

  var open: [Int] { recipients.indices.filter { !done.contains($0) } }
}

/// A job's record.
struct ModelJob {
  var state: JobState {
    didSet { if state == .running { hasStarted = true } }
  }
  var source: String
  var digest: String
  var priority: Priority
  var isAdmitted = false
  var isFinished = false
  var lines = ChunkLines.users
  var segments = 0
  var cursor = 0
  var live = 0
  var chunks = 0
  var window = 0
  var residuals = 0
  var startsLater = false
  var hasStarted = false
  var total = 0
  var counts = OutcomeCounts()
  /// Recipients, and installations of resolved ones, that have no outcome yet.
  var open: Set<String> = []
}

/// A job that a producer enqueued.
struct ModelJobEntry: Hashable {
  var id: String
  var digest: String
  var text: String
}

/// What was given up on.
struct ModelLetter {
  var reason: String
  /// Nil for a refused job.
  var chunk: ModelChunk?
  var segment = ModelSegment(recipients: [])
  var text = ""
  var priority = Priority.normal
  /// That of a refused job.
  var jobEntry = ""
  var entry = ""
}

/// Whose a token is.
struct ModelBinding: Equatable {
  /// Stands for the server's time: later than every instant that the test chooses but one.
  static let now: Int64 = 8_000_000_000_000

  var user: String
  var generation: UInt64
  var updatedAtMs: Int64
  var objectID: String
  var channels: [String] = []
}
