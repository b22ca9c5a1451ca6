/// The two kinds of work stream.
package enum WorkKind: String, Sendable {
  case jobs, chunks
}
