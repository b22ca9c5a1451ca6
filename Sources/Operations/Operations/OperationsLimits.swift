/// The limits of what operators read and do.
package enum OperationsLimits {
  /// A worker beats every second; one that was silent for so long is lost.
  package static let workerSilentMs: Int64 = 15_000
  // A trace
  static let tracePagesMax = 2_000
  /// Events of a trace that are kept in memory.
  package static let traceEventsMax = 10_000
  /// Different things that a summary counts; beyond them reasons are not told apart.
  static let traceSortsMax = 500
  /// TRACE_S in Functions/library.lua.
  package static let traceLifeMs: Int64 = 48 * 3_600_000
}
