/// The limits of the store; those that the functions enforce stand at the top of Functions/library.lua.
package enum StoreLimits {
  /// Installations of one `importBatch`.
  package static let importBatchMax = 500
  /// Users of one `resolve`; a chunk has fewer.
  package static let resolveUsersMax = 1_024
  /// Segments uploaded between two renewals of the job's lease.
  package static let uploadSegmentsMax = 256
  /// What a trace keeps of a network's reason.
  package static let traceReasonBytesMax = 64
  /// Entries of one `TraceStore.page`; each is at most `WorkerLimits.traceBufferBytesMax` and a line.
  package static let tracePageMax = 128
}
