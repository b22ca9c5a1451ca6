package import Model

/// The work streams and sets at one moment.
package struct QueueStatus: Sendable, Equatable {
  /// Entries, those that are being worked on included.
  package var jobs: [Priority: Int] = [:]
  package var chunks: [Priority: Int] = [:]
  package var delayed = 0
  package var dead = 0

  package init() {}

  /// Adds what another store has.
  package mutating func add(_ other: QueueStatus) {
    jobs.merge(other.jobs) { $0 + $1 }
    chunks.merge(other.chunks) { $0 + $1 }
    delayed += other.delayed
    dead += other.dead
  }

  package var backlog: Int { jobs.values.reduce(0, +) + chunks.values.reduce(0, +) + delayed }
}
