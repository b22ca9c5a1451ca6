extension Expiry {
  /// From a job's `ttl_seconds` or `expires_at`; nil when it has neither; both together are refused.
  init?(reader: FieldReader) throws(InvalidField) {
    let seconds = try reader.integer("ttl_seconds", in: 0...Limits.ttlSecondsMax)
    let ms = try reader.instantMs("expires_at")
    switch (seconds, ms) {
    case (nil, nil): return nil
    case (let seconds?, nil): self = .ttl(seconds: seconds)
    case (nil, let ms?):
      guard ms >= Self.plausibleMsMin else {
        throw reader.refused(
          "expires_at",
          "is in the year 1973 or before, as epoch milliseconds: are these seconds?")
      }
      self = .at(ms: ms)
    case (_?, _?):
      throw reader.refused("expires_at", "must not stand beside ttl_seconds: give one of them")
    }
  }

  /// Epoch seconds of our days, read as milliseconds, lie below it.
  private static let plausibleMsMin: Int64 = 100_000_000_000
}
