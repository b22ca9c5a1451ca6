/// The two kinds of work stream.
package enum WorkKind: String, Sendable, CaseIterable {
  case jobs, chunks
}
