/// The values of a user to fill a job's texts with.
enum UserValues {
  /// The job fills nothing in.
  case notNeeded
  case given([String: String])
  /// JSON as the producer has written it; borrowed.
  case json(UnsafeRawBufferPointer)
  /// More than a user may have.
  case unreadable
  /// The key that should hold the values is no HASH, or may not be read.
  case noHash

  /// Bytes of the values that were read.
  var byteCount: Int { if case .json(let json) = self { json.count } else { 0 } }
}
