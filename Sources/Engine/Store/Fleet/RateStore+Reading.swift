internal import Model
package import Redis

// What monitors are told of rates.
extension RateStore {
  /// When lanes drew last from rates, in epoch milliseconds by Redis's clock; nil where nobody did of late.
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
