internal import Glibc
package import Reactor

/// An egress proxy on a free port of this machine that tunnels by CONNECT (RFC 9110, 9.3.6) or SOCKS5
/// (RFC 1928); loop-bound.
package final class TunnelProxy {
  package enum Way: Sendable {
    case http
    case socks5
  }

  let loop: EventLoop
  package let way: Way
  /// `user:password` that it must be shown; nil when all may.
  let login: String?
  private var listener: Listener!
  private var tunnels: [TunnelProxyClient] = []
  /// Where tunnels led, in order, as `host:port`.
  package internal(set) var targets: [String] = []
  /// How many did not show the login.
  package internal(set) var refusals = 0
  /// How many have connected.
  package private(set) var accepted = 0
  /// Hears of each.
  package var onAccept: () -> Void = {}
  /// The bytes that it says to whoever wants a tunnel, instead of opening one; none for silence.
  package var misanswer: [UInt8]?

  package init(
    loop: EventLoop, way: Way, host: String = "127.0.0.1", login: String? = nil
  ) throws(SystemError) {
    self.loop = loop
    self.way = way
    self.host = host
    self.login = login
    listener = try Listener(loop: loop, endpoint: .tcp(host: host, port: 0)) {
      [unowned self] descriptor in
      guard !isDown else {
        Glibc.close(descriptor)
        return
      }
      accepted += 1
      tunnels.append(TunnelProxyClient(descriptor: descriptor, proxy: self))
      onAccept()
    }
  }

  private let host: String
  package var port: UInt16 { listener.port }

  /// The URL, for instance `socks5h://127.0.0.1:1080`.
  package var url: String {
    "\(way == .http ? "http" : "socks5h")://\(Endpoint.tcp(host: host, port: port))"
  }

  /// The proxy as its users name it.
  /// - Parameter looksUpHere: whether they look up names themselves, where that is to be chosen.
  package func server(
    login: ProxyServer.Login? = nil, looksUpHere: Bool = false
  ) -> ProxyServer {
    let socks: ProxyServer.Way = looksUpHere ? .socks5 : .socks5h
    return ProxyServer(way == .http ? .http : socks, host: host, port: port, login: login)
  }

  /// Whether it cuts whoever is connected or connects. It keeps its port meanwhile: anybody's connection
  /// could be given that.
  package var isDown = false {
    didSet { if isDown { cut() } }
  }

  /// Cuts every tunnel.
  package func cut() {
    let cut = tunnels
    tunnels.removeAll()
    for tunnel in cut { tunnel.close() }
  }

  /// Cuts every tunnel and listens no more.
  package func close() {
    listener.close()
    cut()
  }

  func ended(_ tunnel: TunnelProxyClient) { tunnels.removeAll { $0 === tunnel } }
}
