/// One way to an endpoint: an address to connect to, which with a proxy is the proxy's, and what lies behind it then.
struct ConnectRoute {
  let address: SocketAddress
  var target: TunnelTarget?

  /// The address that is to blame when the connection to `address` stands and nothing comes of it.
  var reached: SocketAddress {
    if case .address(let address) = target { address } else { address }
  }

  /// Every way through each address of a proxy to each target, the first target through all of them first.
  static func all(through proxy: [SocketAddress], to targets: [TunnelTarget]) -> [ConnectRoute] {
    let routes = targets.flatMap { target in proxy.map { ConnectRoute(address: $0, target: target) }
    }
    return Array(routes.prefix(ReactorLimits.addressesMax))
  }
}
