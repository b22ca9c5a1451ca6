/// When work that was not sent yet is dropped.
package enum Expiry: Sendable, Equatable {
  /// Seconds after the job was created; 0 also tells the provider not to store the push.
  case ttl(seconds: Int)
  /// Epoch milliseconds.
  case at(ms: Int64)

  /// Epoch milliseconds, for a job created at `createdAtMs`.
  package func expiresAtMs(createdAtMs: Int64) -> Int64 {
    switch self {
    case .ttl(let seconds): createdAtMs + Int64(seconds) * 1_000
    case .at(let ms): ms
    }
  }
}

extension Expiry {
  /// From what the lanes keep of a job's content, whatever else stands there; nil when it never expires, or nothing can be read.
  package init?(content bytes: [UInt8]) {
    let object = (try? JSONParser().parse(bytes))?.objectValue
    if let ms = object?["expires_at"]?.int64Value {
      self = .at(ms: ms)
    } else if let seconds = object?["ttl_seconds"]?.int64Value,
      (0...Int64(Limits.ttlSecondsMax)).contains(seconds)
    {
      self = .ttl(seconds: Int(seconds))
    } else {
      return nil
    }
  }

  /// From a job's `ttl_seconds` or `expires_at`; nil when it has neither; both together are refused.
  init?(reader: FieldReader) throws(InvalidField) {
    let seconds = try reader.integer("ttl_seconds", in: 0...Limits.ttlSecondsMax)
    let ms = try reader.recentInstantMs("expires_at")
    switch (seconds, ms) {
    case (nil, nil): return nil
    case (let seconds?, nil): self = .ttl(seconds: seconds)
    case (nil, let ms?): self = .at(ms: ms)
    case (_?, _?):
      throw reader.refused("expires_at", "must not stand beside ttl_seconds: give one of them")
    }
  }
}
