package import Redis
package import Store

/// Goes through the dead letters that are there as it begins, in steps between which they may be retried or dropped.
/// Retried letters may come back as new ones: those are not for this scan.
package struct DeadLetterScan: Sendable {
  /// The last letter of each store as the scan began; nil where there was none.
  private let ends: [EntryID?]
  private var place = 0
  private var after: String?

  private init(ends: [EntryID?]) { self.ends = ends }

  package static func begin(in stores: [ShardStore]) async throws(RedisError) -> DeadLetterScan {
    var ends: [EntryID?] = []
    for store in stores {
      ends.append(try await store.deadLetters.last().flatMap { EntryID($0) })
    }
    return DeadLetterScan(ends: ends)
  }

  /// The next letters; none when all were gone through.
  /// - Parameter stores: those that it began in.
  package mutating func next(
    in stores: [ShardStore]
  ) async throws(RedisError) -> [ShardEntry] {
    while place < ends.count {
      guard let end = ends[place] else {
        leave()
        continue
      }
      let page = try await stores[place].deadLetters.list(
        after: after, max: OperationsLimits.deadPage)
      // By order and not by name: somebody else may have taken the last one away.
      let letters = page.map(\.name).prefix { $0.id <= end }
      after = page.last?.entry
      if letters.count < page.count || page.isEmpty { leave() }
      if !letters.isEmpty { return Array(letters) }
    }
    return []
  }

  /// Goes on to the next store.
  private mutating func leave() {
    place += 1
    after = nil
  }
}
