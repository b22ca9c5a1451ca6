internal import Model
internal import Store

/// The id of a request of several pushes: the same job to the same devices has the same id, in whatever order, attempt and
/// worker. So a network that knows ids does nothing twice when a request is repeated after a lost answer or a crash.
enum BatchID {
  /// - Parameters:
  ///   - environments: those of the destination. A token that is refused in one may be tried in the other.
  ///   - tokens: of the devices that the request is for.
  /// - Returns: a UUID (RFC 9562, 5.8) in lowercase.
  static func of(
    _ claim: ChunkClaim, environments: Set<PushEnvironment>, _ tokens: [UnsafeRawBufferPointer]
  ) -> [UInt8] {
    // The source is the entry by which the job came: a job that is enqueued anew under the id of an old one has another.
    var text = Array(
      "\(claim.app)\n\(claim.job)\n\(claim.source)\n\(key(of: environments))\n".utf8)
    for token in tokens.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      text += token
      text.append(UInt8(ascii: "\n"))
    }
    var digits = Array(ContentDigest.of(text).utf8)
    digits[12] = UInt8(ascii: "8")
    digits[16] = UInt8(ascii: "a")
    return Array(
      [digits[..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
        .joined(separator: [UInt8(ascii: "-")]))
  }

  /// Returns the name for a destination's environments. It never changes: a request that is repeated by a newer worker
  /// must have the id that it had.
  private static func key(of environments: Set<PushEnvironment>) -> String {
    guard environments.count == 1, let environment = environments.first else { return "all" }
    return switch environment {
    case .production: "production"
    case .development: "development"
    }
  }
}
