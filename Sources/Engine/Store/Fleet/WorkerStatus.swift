/// A worker as the fleet sees it.
package struct WorkerStatus: Sendable, Equatable {
  package let worker: String
  /// Epoch milliseconds.
  package let lastBeatMs: Int64
  /// host, pid, version, lanes, in_flight…; empty when it stopped beating.
  package let fields: [String: String]
}
