internal import Reactor

/// Decides where a connection goes: to the server that is configured, or to where a node of a cluster has sent it. A value
/// without input or output.
struct RedisLocator {
  private let configured: Endpoint
  /// The node of a cluster that the last one named; nil for the configured server.
  private var named: Endpoint?
  /// How many nodes in a row have named another.
  private var redirections = 0

  init(_ endpoint: RedisEndpoint) { configured = endpoint.endpoint }

  /// Where the connection goes, or is.
  var place: Endpoint { named ?? configured }

  /// The server at that place is of use.
  mutating func arrive() { redirections = 0 }

  /// The connection is lost, or could not be made.
  /// - Parameter next: the node that this one has named.
  /// - Returns: whether the next connection is to that node; else it is to the configured server.
  mutating func leave(for next: Endpoint?) -> Bool {
    named = redirections < RedisLimits.redirectionsMax ? next : nil
    redirections = named == nil ? 0 : redirections + 1
    return named != nil
  }

  /// The connection is made anew, to the same place.
  mutating func stay() { _ = leave(for: named) }
}
