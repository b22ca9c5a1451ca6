package import Model
package import Redis

/// Who belongs to an app's topics and to all.
package struct AudienceStore {
  let functions: StoreFunctions

  /// Subscribes users to topics, whether or not they have devices; at most `StoreLimits.subscriptionsMax`. May be repeated.
  /// - Returns: how many had not subscribed before.
  package func subscribe(_ subscriptions: [Subscription]) async throws(RedisError) -> Int {
    try await change("subscribe", subscriptions)
  }

  /// - Returns: how many had subscribed.
  package func unsubscribe(_ subscriptions: [Subscription]) async throws(RedisError) -> Int {
    try await change("unsubscribe", subscriptions)
  }

  private func change(
    _ function: String, _ subscriptions: [Subscription]
  ) async throws(RedisError) -> Int {
    precondition(subscriptions.count <= StoreLimits.subscriptionsMax, "too many at once")
    var command = functions.call(function)
    for subscription in subscriptions {
      command.append(subscription.app)
      command.append(subscription.topic)
      command.append(subscription.user)
    }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: 2)
      return try decodeCount(reply[0])
    }
  }

  /// The topics, the channels and all of an app, as far as somebody is in them, by name.
  package func sizes(app: String) async throws(RedisError) -> [IndexSize] {
    var sizes: [String: Int] = [:]
    try await eachSize(app: app) { sizes[$0] = $1 }
    return sizes.sorted { $0.key < $1.key }.compactMap { name, users in
      AudienceIndex(name: name).map { IndexSize(index: $0, users: users) }
    }
  }

  /// The next topics or channels of an app, as far as somebody is in them, in the byte order of their names. It reads the sizes of
  /// all of them, and keeps only those that it tells.
  /// - Parameters:
  ///   - place: the name behind which they are; empty for the first.
  ///   - max: how many at most, 1 at least.
  ///   - name: tells the name of an index of the kind that is asked for; nil for another.
  package func sizes(
    app: String, behind place: String, max: Int, _ name: (AudienceIndex) -> String?
  ) async throws(RedisError) -> [GroupSize] {
    var first = FirstSizes(behind: place, max: max)
    try await eachSize(app: app) { index, users in
      if let name = AudienceIndex(name: index).flatMap(name) {
        first.add(GroupSize(name: name, users: users))
      }
    }
    return first.sizes
  }

  /// Calls the body with what the functions call each index of an app, and with how many users are in it; maybe twice with one.
  private func eachSize(
    app: String, _ body: (String, Int) -> Void
  ) async throws(RedisError) {
    var cursor = "0"
    for _ in 0..<StoreLimits.sizePagesMax {
      let command = RedisCommand(
        "HSCAN", functions.keys.audiences(app: app), cursor, "COUNT",
        "\(StoreLimits.sizesPageMax)")
      let page = try await functions.connection.call(command).array ?? []
      guard page.count == 2, let next = page[0].string else {
        throw .unexpectedReply("HSCAN has no cursor")
      }
      cursor = next
      for (name, size) in page[1].pairs {
        if let size = Int(size) { body(name, StoredNumber.count(size)) }
      }
      if cursor == "0" { break }
    }
  }

  /// Looks for some more users of an app that have an installation and are in no index, and adds them. At the end, jobs to all are
  /// admitted.
  package func indexUsers(app: String, _ walk: IndexWalk) async throws(RedisError) -> IndexWalk {
    guard let cursor = walk.walk.cursor else { return walk }
    let command = functions.call("index_users", app, cursor, walk.walk.server)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: KeyWalk.columns + 2)
      var next = walk
      try next.advance(reply)
      return next
    }
  }

  /// The next users who subscribe to a topic, in their order.
  /// - Parameter place: what the last page ended with; empty to begin.
  /// - Returns: some hundreds, and the place behind them: nil at the end.
  package func subscribers(
    app: String, topic: String, behind place: String
  ) async throws(RedisError) -> (users: [String], place: String?) {
    return try await functions.read("export_subscribers", [app, topic, place]) {
      reply throws(RedisError) in
      try expectArray(reply, atLeast: 2)
      let isOver = try decodeInteger(reply[1]) == 1
      return ((2..<reply.count).map { reply[$0].string }, isOver ? nil : reply[0].string)
    }
  }
}

/// How many users are in an index.
package struct IndexSize: Sendable, Equatable {
  package let index: AudienceIndex
  package let users: Int
}

/// How far the users of an app have been looked for that no index has. A value: `AudienceStore.indexUsers` goes on with it.
package struct IndexWalk: Sendable, Equatable {
  package private(set) var walk = KeyWalk()
  /// Users that were found.
  package private(set) var found = 0
  /// Users that were found and were not in the index.
  package private(set) var added = 0

  package init() {}

  package var isOver: Bool { walk.isOver }

  /// Takes in what a call has done.
  mutating func advance(_ reply: RedisReply) throws(RedisError) {
    if try walk.advance(reply) { found = 0 }
    found += try decodeCount(reply[KeyWalk.columns])
    added += try decodeCount(reply[KeyWalk.columns + 1])
  }
}
