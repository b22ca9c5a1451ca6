package import Model
package import Redis

/// Rates that the whole fleet keeps to: each lane draws what it is about to send.
package struct RateStore {
  let functions: StoreFunctions

  /// Takes up to so many tokens of the rate's bucket, by the server's clock.
  /// - Returns: how many were granted, and after how many ms asking for the rest is worth it.
  package func draw(
    _ rate: RateLimit, wanted: Int
  ) async throws(RedisError) -> (granted: Int, retryMs: UInt64) {
    var command = functions.call("draw_rate", rate.name, "\(rate.perSecond)")
    command.append(wanted)
    command.append(Int(clamping: rate.rampMs))
    return try await functions.run(command) { reply throws(RedisError) in
      try decodeGrant(reply, wanted: wanted)
    }
  }

  // MARK: For monitors

  /// The instants at which lanes drew last from rates, in epoch milliseconds by Redis's clock; nil where nobody did of late.
  package func lastDraws(_ names: [String]) async throws(RedisError) -> [Int64?] {
    let replies = await functions.connection.callAll(
      names.map { RedisCommand("HGET", functions.keys.rate($0), "at") }
    ) { $0.string }
    var draws: [Int64?] = []
    for reply in replies {
      let text = try reply.get()
      draws.append(text.isEmpty ? nil : Double(text).flatMap(Self.instantMs))
    }
    return draws
  }

  private static func instantMs(_ number: Double) -> Int64? {
    // Beyond these a Double is no Int64.
    guard number.isFinite, abs(number) < 1e15 else { return nil }
    return StoredNumber.instantMs(Int64(number))
  }
}
