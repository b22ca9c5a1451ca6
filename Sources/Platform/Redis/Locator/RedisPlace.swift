package import Reactor

/// Where the server is that a connection is for: an address that stays, or whom to ask for it.
package enum RedisPlace: Sendable {
  /// One server, or a node of a cluster that names another.
  case server(Endpoint)
  /// The nodes of a cluster that are known by name. Any of them names the one that serves.
  case cluster(seeds: [Endpoint])
  /// Whoever the sentinels call the master, each time anew.
  case sentinels(SentinelGroup)

  /// The addresses that stay, in the order in which they are tried.
  var addresses: [Endpoint] {
    switch self {
    case .server(let endpoint): [endpoint]
    case .cluster(let seeds): seeds
    case .sentinels: []
    }
  }
}

extension RedisPlace: CustomStringConvertible {
  package var description: String {
    switch self {
    case .server(let endpoint): "\(endpoint)"
    case .cluster(let seeds):
      "the cluster of " + seeds.map { "\($0)" }.joined(separator: ", ")
    case .sentinels(let group): "\(group)"
    }
  }
}
