/// The limits of what operators read and do.
package enum OperationsLimits {
  /// A worker beats every second; one that was silent for so long is lost.
  package static let workerSilentMs: Int64 = 15_000
}
