package import Redis
package import Store

/// The dead letters of all shards. A letter is known by its entry and its shard: nothing is done to a letter of another shard
/// that has the same entry.
package struct DeadLetterOffice {
  private let stores: [ShardStore]

  package init(stores: [ShardStore]) { self.stores = stores }

  package func count() async throws(RedisError) -> Int {
    var count = 0
    for store in stores { count += try await store.deadLetters.count() }
    return count
  }

  /// A page of letters, oldest first, without their originals. Letters of the same entry are in the order of their shards'
  /// names.
  /// - Parameters:
  ///   - after: the letter to start behind; it need not be there any more.
  ///   - max: the page has fewer at the end only.
  package func list(
    after: ShardEntry? = nil, max: Int
  ) async throws(RedisError) -> [DeadLetter] {
    var letters: [DeadLetter] = []
    for store in stores {
      letters += try await store.deadLetters.list(
        after: after?.last(in: store.id)?.text, max: max)
    }
    guard stores.count > 1 else { return letters }
    return Array(letters.sorted { $0.name < $1.name }.prefix(max))
  }

  /// One letter without its original, which may be large; nil when there is none.
  package func glance(_ name: ShardEntry) async throws(RedisError) -> DeadLetter? {
    let found = try await stores.of(name.shard)?.deadLetters
      .list(after: name.id.previous?.text, max: 1).first
    return found?.name == name ? found : nil
  }

  /// One letter with its original; nil when there is none.
  package func show(_ name: ShardEntry) async throws(RedisError) -> DeadLetter? {
    try await stores.of(name.shard)?.deadLetters.show(name.id.text)
  }

  /// Queues a refused job again as new, or the open recipients of a chunk within their job.
  package func retry(_ name: ShardEntry) async throws(RedisError) -> DeadRetryAnswer {
    try await stores.of(name.shard)?.deadLetters.retry(name.id.text) ?? .absent
  }

  /// Removes a letter for good. - Returns: false when it was not there.
  package func drop(_ name: ShardEntry) async throws(RedisError) -> Bool {
    try await stores.of(name.shard)?.deadLetters.drop(name.id.text) ?? false
  }
}
