internal import Reactor

/// A node of a Redis Cluster says that it does not serve the keys that it was asked for
/// (redis.io, "Redis cluster specification", Redirection and resharding).
struct ClusterRefusal: Equatable {
  /// Who serves them; nil when the node does not say, or not for good.
  let next: Endpoint?
  let reason: String

  /// Nil for an error of another kind.
  /// - Parameters:
  ///   - here: where the node was reached; it may leave its own host out.
  ///   - slotKey: the key that stands for all of ours.
  init?(_ error: RedisError, here: Endpoint, slotKey: String?) {
    guard case .server(let code, let message) = error else { return nil }
    switch code {
    case "MOVED":
      guard slotKey.map(Self.hasHashTag) ?? true else {
        next = nil
        reason =
          "it is a Redis Cluster (MOVED), so redis.prefix must be a hash tag, such as {pushpool}"
        return
      }
      next = message.split(separator: " ").last.flatMap { Self.endpoint($0, here: here) }
      let place = next.map { "at \($0)" } ?? "elsewhere"
      reason = "this node of the Redis Cluster does not serve our keys, they are \(place) (MOVED)"
    case "ASK":
      next = nil
      reason =
        "the Redis Cluster is moving our keys to another node (ASK): work goes on when it has"
    case "CLUSTERDOWN":
      next = nil
      reason = "the Redis Cluster does not serve (CLUSTERDOWN): see CLUSTER INFO there"
    default: return nil
    }
  }

  /// The reason as the connection's: before it could be used nothing was on its way, and the server is there.
  func error(wasReady: Bool) -> RedisError {
    wasReady ? .connectionLost(reason: reason) : .unsuitable(reason: reason)
  }

  private static func hasHashTag(_ key: String) -> Bool {
    key.firstIndex(of: "{").map { key[$0...].contains("}") } ?? false
  }

  /// `host:port`; an empty host is the one that was asked, `?` one that the node does not know.
  private static func endpoint(_ text: Substring, here: Endpoint) -> Endpoint? {
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...]), port > 0
    else { return nil }
    let host = String(text[..<colon])
    if !host.isEmpty { return host == "?" ? nil : .tcp(host: host, port: port) }
    guard case .tcp(let own, _) = here else { return nil }
    return .tcp(host: own, port: port)
  }
}
