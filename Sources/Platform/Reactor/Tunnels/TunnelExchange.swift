/// Where a proxy's tunnel leads to.
enum TunnelTarget: Hashable {
  /// A name, which the proxy looks up; or an address in digits.
  case host(String, port: UInt16)
  case address(SocketAddress)
}

/// The words between us and a proxy until it has opened a tunnel; without input or output.
///
/// A refusal is in our own words: a proxy's may repeat the login that it was shown.
protocol TunnelExchange {
  /// The bytes for the proxy. Whoever has sent some takes them out.
  var output: [UInt8] { get set }
  var progress: TunnelProgress { get }
  /// Whether the proxy has been asked for its target: what fails from then on may be the target's fault.
  var isTargetAsked: Bool { get }
  /// Whether a refusal concerns the target alone. Any other would meet all targets: a login that one proxy refuses is shown once.
  var isAboutTarget: Bool { get }
  /// Reads as much as belongs to the proxy's answer. What is behind that comes out of the tunnel.
  /// - Returns: how many bytes were read.
  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Int
}

/// How far a proxy has come with a tunnel.
enum TunnelProgress: Equatable {
  case goesOn
  case open
  /// The reason follows "the proxy HOST:PORT ".
  case refused(String)
}

extension ProxyServer {
  /// The first words to this proxy for a tunnel.
  func exchange(for target: TunnelTarget) -> any TunnelExchange {
    switch way {
    case .http: ConnectExchange(to: target, login: login)
    case .socks5, .socks5h: SOCKSExchange(to: target, login: login)
    }
  }

  /// The reason why nothing can be shown to it as a login, ready for `TunnelProgress.refused`; the same of both ways.
  static let loginRefused = "refuses the login: check proxy_user and proxy_password_file"
  static let loginWanted = "wants a login: give proxy_user and proxy_password_file"

  /// Why CONNECT with this status opened no tunnel, ready for `TunnelProgress.refused`.
  static func refusal(ofConnect status: Int, hasLogin: Bool) -> String {
    switch status {
    case 407: (hasLogin ? loginRefused : loginWanted) + " (407)"
    case 403: "forbids the tunnel (403): have it allow the network's host and port"
    case 405, 501: "does not take CONNECT (\(status)): is it a proxy for http:// alone?"
    case 502, 503, 504: "cannot reach the network (\(status))"
    default: "refuses the tunnel (\(status))"
    }
  }

  /// The failure of a CONNECT that the proxy answered with this status, for whoever makes tunnels by other means.
  package func failure(ofConnect status: Int) -> StreamFailure {
    .proxy(endpoint, reason: Self.refusal(ofConnect: status, hasLogin: login != nil))
  }
}
