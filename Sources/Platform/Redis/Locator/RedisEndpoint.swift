package import Reactor

/// Where a Redis server is and how to log in there. The password never appears in a description.
package struct RedisEndpoint: Sendable, CustomStringConvertible {
  package var endpoint: Endpoint
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

  package init(
    endpoint: Endpoint, tls: Bool = false, caFile: String? = nil, user: String? = nil,
    password: String? = nil, database: Int = 0, clientName: String = "pushpool",
    slotKey: String? = nil
  ) {
    self.endpoint = endpoint
    self.tls = tls
    self.caFile = caFile
    self.user = user
    self.password = password
    self.database = database
    self.clientName = clientName
    self.slotKey = slotKey
  }

  /// Nil when the server asks nobody who they are.
  var login: RedisCommand? {
    if let user { return RedisCommand("AUTH", user, password ?? "") }
    return password.map { RedisCommand("AUTH", $0) }
  }

  package var description: String { "\(endpoint)\(tls ? " with TLS" : ""), database \(database)" }
}
