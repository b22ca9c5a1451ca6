/// The limits of the store; those that pushpool.lua enforces stand at its top.
package enum StoreLimits {
  /// Installations of one `importBatch`.
  package static let importBatchMax = 500
  /// Users of one `resolve`; a chunk has fewer.
  package static let resolveUsersMax = 1_024
  /// Segments uploaded between two renewals of the job's lease.
  package static let uploadSegmentsMax = 256
}
