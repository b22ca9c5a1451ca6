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

  /// The topics of an app that somebody subscribes to, by name.
  package func topics(app: String) async throws(RedisError) -> [TopicSize] {
    var sizes: [String: Int] = [:]
    var cursor = "0"
    for _ in 0..<StoreLimits.topicPagesMax {
      let command = RedisCommand(
        "HSCAN", functions.keys.audiences(app: app), cursor, "COUNT",
        "\(StoreLimits.topicsPageMax)")
      let page = try await functions.connection.call(command).array ?? []
      guard page.count == 2, let next = page[0].string else {
        throw .unexpectedReply("HSCAN has no cursor")
      }
      cursor = next
      for (name, size) in page[1].pairs {
        guard let topic = AudienceIndex.topic(inName: name), let users = Int(size) else { continue }
        sizes[topic] = users
      }
      if cursor == "0" { break }
    }
    return sizes.map { TopicSize(topic: $0.key, users: $0.value) }.sorted { $0.topic < $1.topic }
  }

  /// Looks for some more users of an app that have an installation and are in no index, and adds them. At the end, jobs to all are
  /// admitted.
  package func indexUsers(app: String, _ walk: IndexWalk) async throws(RedisError) -> IndexWalk {
    guard let cursor = walk.cursor else { return walk }
    let command = functions.call("index_users", app, cursor, walk.server)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: 6)
      var next = walk
      next.advance(
        cursor: reply[0].string, server: reply[1].string, found: try decodeCount(reply[2]),
        added: try decodeCount(reply[3]), keys: try decodeCount(reply[4]),
        beganAgain: try decodeInteger(reply[5]) == 1)
      return next
    }
  }
}
