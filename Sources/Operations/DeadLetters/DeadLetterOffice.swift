package import Redis
package import Store

/// The dead letters of all shards. A letter is known by its entry alone: it is looked for in one store after another.
package struct DeadLetterOffice {
  private let stores: [ShardStore]

  package init(stores: [ShardStore]) { self.stores = stores }

  package func count() async throws(RedisError) -> Int {
    var count = 0
    for store in stores { count += try await store.deadLetters.count() }
    return count
  }

  /// A page of letters, oldest first, without their originals.
  /// - Parameters:
  ///   - after: the entry to start behind.
  ///   - max: the page has fewer at the end only, and more only when letters of several stores have the same entry, by
  ///     which no page could start between them.
  package func list(after: String? = nil, max: Int) async throws(RedisError) -> [DeadLetter] {
    var letters: [DeadLetter] = []
    for store in stores { letters += try await store.deadLetters.list(after: after, max: max) }
    guard stores.count > 1 else { return letters }
    // By the entry, and as the stores are ordered where that is the same.
    let sorted = letters.compactMap { letter in
      EntryID(letter.entry).map { (id: $0, letter: letter) }
    }.enumerated()
      .sorted { ($0.element.id, $0.offset) < ($1.element.id, $1.offset) }
      .map(\.element)
    guard sorted.count > max else { return sorted.map(\.letter) }
    let last = sorted[max - 1].id
    return sorted.prefix { $0.id <= last }.map(\.letter)
  }

  /// One letter with its original; nil when there is none.
  package func show(_ entry: String) async throws(RedisError) -> DeadLetter? {
    try await stores.firstAnswer { store throws(RedisError) in
      try await store.deadLetters.show(entry)
    }
  }

  /// Queues a refused job again as new, or the open recipients of a chunk within their job.
  package func retry(_ entry: String) async throws(RedisError) -> DeadRetryAnswer {
    let answer = try await stores.firstAnswer { store throws(RedisError) in
      let answer = try await store.deadLetters.retry(entry)
      return answer == .absent ? nil : answer
    }
    return answer ?? .absent
  }

  /// Removes a letter for good. - Returns: false when it was not there.
  package func drop(_ entry: String) async throws(RedisError) -> Bool {
    for store in stores {
      if try await store.deadLetters.drop(entry) { return true }
    }
    return false
  }
}
