/// The limits of the store; those that the functions enforce stand at the top of Functions/library.lua.
package enum StoreLimits {
  /// Installations of one `importBatch`.
  package static let importBatchMax = 500
  /// Users of one `resolve`; a chunk has fewer.
  package static let resolveUsersMax = 1_024
  /// Segments uploaded between two renewals of the job's lease.
  package static let uploadSegmentsMax = 256
  /// How long ago an entry's id may say that it was added, to be believed: as long as segments are kept.
  static let entryAgeMsMax: Int64 = 30 * 86_400_000
}
