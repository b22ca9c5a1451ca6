package import Reactor

/// Where a Redis server is and how to log in there. The password never appears in a description.
package struct RedisEndpoint: Sendable, CustomStringConvertible {
  package var place: RedisPlace
  package var tls: Bool
  /// Certificate authorities (PEM) trusted beside the system's.
  package var caFile: String?
  /// The ACL user; nil logs in as `default`. Without a password it is one that needs none (`nopass`).
  package var user: String?
  package var password: String?
  package var database: Int
  /// The name that CLIENT LIST shows; no spaces or line breaks.
  package var clientName: String
  /// A key of the cluster slot that all of ours are in; nil to not ask who serves it.
  package var slotKey: String?
  /// The key by which the place is known; nil where any will do.
  package var mark: RedisMark?
  /// Whether a replica at a fixed address is of no use. A replica that sentinels call the master never is.
  package var needsPrimary = true

  package init(
    place: RedisPlace, tls: Bool = false, caFile: String? = nil, user: String? = nil,
    password: String? = nil, database: Int = 0, clientName: String = "pushpool",
    slotKey: String? = nil
  ) {
    self.place = place
    self.tls = tls
    self.caFile = caFile
    self.user = user
    self.password = password
    self.database = database
    self.clientName = clientName
    self.slotKey = slotKey
  }

  /// One server.
  package init(
    endpoint: Endpoint, tls: Bool = false, caFile: String? = nil, user: String? = nil,
    password: String? = nil, database: Int = 0, clientName: String = "pushpool",
    slotKey: String? = nil
  ) {
    self.init(
      place: .server(endpoint), tls: tls, caFile: caFile, user: user, password: password,
      database: database, clientName: clientName, slotKey: slotKey)
  }

  /// Nil when the server asks nobody who they are.
  var login: RedisCommand? { RedisCommand.login(user: user, password: password) }

  package var description: String { "\(place)\(tls ? " with TLS" : ""), database \(database)" }

  /// Says why a server that answers is not the one that is meant; nil when it is.
  func refusal(of server: ServerIdentity) -> RedisError? {
    if server.mode == .sentinel {
      return .unsuitable(
        reason: "a Sentinel answers there, and no Redis: write redis+sentinel://HOST:PORT/NAME "
          + "with the name of its master")
    }
    switch place {
    case .cluster where server.mode == .standalone:
      return .unsuitable(
        reason: "it is no node of a Redis Cluster: write redis:// with the one host, or "
          + "redis+sentinel:// with its sentinels")
    case .sentinels(let group) where server.isReplica:
      return .unsuitable(
        reason: "the sentinels call it the master \(group.master), and it is a replica: they may "
          + "be about to make another one the master")
    case .server where server.isReplica && needsPrimary, .cluster where server.isReplica:
      return .unsuitable(
        reason: "it is a replica, which takes no writes: name its primary in redis.url, or the "
          + "sentinels that know it (redis+sentinel://)")
    case .server, .cluster, .sentinels: return nil
    }
  }
}

extension RedisCommand {
  /// AUTH; nil where nobody asks.
  static func login(user: String?, password: String?) -> RedisCommand? {
    if let user { return RedisCommand("AUTH", user, password ?? "") }
    return password.map { RedisCommand("AUTH", $0) }
  }
}
