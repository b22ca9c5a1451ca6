internal import Model
internal import Redis

/// Entries that a lane is asked to read on in a stream: the fleet wants to know whose jobs wait behind the next ones.
struct LookAhead: Sendable {
  let priority: Priority
  /// Behind this entry.
  let from: String
  let to: String
  /// Nil for those of every app.
  let app: String?
  let atOnce: Int

  /// Reads them.
  func question(_ keys: Keys) -> RedisCommand {
    RedisCommand("XRANGE", keys.jobs(priority), "(\(from)", to, "COUNT", String(atOnce))
  }

  /// Tells the fleet of what was read. Of each app the first entries are enough.
  /// - Parameter reply: to the question.
  func answer(_ reply: RedisReply, _ functions: StoreFunctions) -> RedisCommand {
    var told: [String: Int] = [:]
    var seen: [(entry: String, app: String)] = []
    let items = StreamedJob.glances(at: reply)
    let hasMore = reply.count == atOnce
    let bytes = items.reduce(0) { $0 + $1.bytes }
    for (entry, app, _) in items where self.app == nil || app == self.app {
      let count = told[app, default: 0]
      guard count < StoreLimits.toldAheadPerApp else { continue }
      told[app] = count + 1
      seen.append((entry, app))
    }
    var command = functions.call(
      "list_ahead", priority.rawValue, from,
      hasMore || app == nil ? items.last?.entry ?? from : to, hasMore ? "1" : "0",
      bytes <= items.count * StoreLimits.glanceBytes ? "1" : "0", app == nil ? "queue" : "app",
      app ?? "")
    for (entry, app) in seen {
      command.append(entry)
      command.append(app)
    }
    return command
  }
}
