/// What ended a wait for work.
package enum WorkNews: Sendable {
  case none
  /// Jobs were added, and no chunks.
  case jobs
  case chunks
}
