/// The limits of the store; those that the functions enforce stand at the top of Functions/library.lua.
package enum StoreLimits {
  /// Installations of one `importBatch`: 2 ms of Redis' time, or 5 for users with as many as they may have.
  package static let importBatchMax = 64
  /// Users of one `resolve`; a chunk has fewer.
  package static let resolveUsersMax = 1_024
  /// Segments uploaded between two renewals of the job's lease.
  package static let uploadSegmentsMax = 256
  /// How long ago an entry's id may say that it was added, to be believed: as long as segments are kept.
  static let entryAgeMsMax: Int64 = 30 * 86_400_000
  /// Switches that are honoured at a time; more are refused, and complained of.
  package static let switchesMax = 1_000
  /// What is kept of why something was switched off.
  package static let switchReasonBytesMax = 512
  /// What a trace keeps of a network's reason.
  package static let traceReasonBytesMax = 64
  /// Entries of one `TraceStore.page`; each is at most `WorkerLimits.traceBufferBytesMax` and a line.
  package static let tracePageMax = 128
}
