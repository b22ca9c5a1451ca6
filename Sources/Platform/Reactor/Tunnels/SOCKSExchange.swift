/// SOCKS5 (RFC 1928) with the login by user and password (RFC 1929).
struct SOCKSExchange: TunnelExchange {
  /// The answers of a proxy, in their order.
  private enum Step {
    case method, login, reply
    /// The rest of the reply: so many bytes of an address, and a port.
    case address(bytes: Int)
    /// A name instead of an address; its length comes first.
    case nameLength
  }

  var output: [UInt8]
  private(set) var progress = TunnelProgress.goesOn
  private let target: TunnelTarget
  private let login: ProxyServer.Login?
  private var step = Step.method
  /// The answer that is awaited, as far as it has come.
  private var answer: [UInt8] = []
  private(set) var isTargetAsked = false
  private(set) var isAboutTarget = false

  private static let version: UInt8 = 5
  private static let withoutLogin: UInt8 = 0
  /// Codes of replies that another target may not get.
  private static let targetCodes: Set<UInt8> = [1, 3, 4, 5, 6, 8]
  private static let withPassword: UInt8 = 2

  init(to target: TunnelTarget, login: ProxyServer.Login?) {
    self.target = target
    self.login = login
    let methods = login == nil ? [Self.withoutLogin] : [Self.withoutLogin, Self.withPassword]
    output = [Self.version, UInt8(methods.count)] + methods
    var texts = [login?.user ?? "", login?.password ?? ""]
    if case .host(let name, _) = target { texts.append(name) }
    // One byte says how long each is.
    if texts.contains(where: { $0.utf8.count > UInt8.max }) {
      progress = .refused(
        "speaks SOCKS5, which has no room for a user, password or host name of over 255 bytes")
    }
  }

  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    for (index, byte) in bytes.enumerated() {
      guard progress == .goesOn else { return index }
      answer.append(byte)
      if answer.count == 1, !isExpected(byte) {
        progress = .refused("does not answer in SOCKS5: is it another kind of proxy?")
      } else if answer.count == length {
        endAnswer()
      } else if case .reply = step, answer.count == 2, byte != 0 {
        // Some say no more than that.
        progress = .refused(Self.refusal(byte))
        isAboutTarget = Self.targetCodes.contains(byte)
      }
    }
    return bytes.count
  }

  /// Whether an answer may begin with this byte: its version.
  private func isExpected(_ byte: UInt8) -> Bool {
    switch step {
    case .method, .reply: byte == Self.version
    // RFC 1929 has a version of its own, which not every proxy keeps to.
    case .login, .address, .nameLength: true
    }
  }

  private var length: Int {
    switch step {
    case .method, .login: 2
    case .reply: 4
    case .nameLength: 1
    case .address(let bytes): bytes + 2
    }
  }

  private mutating func endAnswer() {
    let last = answer[answer.count - 1]
    switch step {
    case .method where last == Self.withPassword && login != nil: showLogin()
    case .method where last == Self.withoutLogin: askForTunnel()
    case .method:
      progress = .refused(
        login == nil ? ProxyServer.loginWanted : "takes no login by user and password")
    case .login where last == 0: askForTunnel()
    case .login: progress = .refused(ProxyServer.loginRefused)
    case .reply: readAddress(ofType: last)
    case .nameLength: step = .address(bytes: Int(last))
    case .address: progress = .open
    }
    answer.removeAll()
  }

  private mutating func showLogin() {
    guard let login else { return }
    output += [1, UInt8(login.user.utf8.count)] + Array(login.user.utf8)
    output += [UInt8(login.password.utf8.count)] + Array(login.password.utf8)
    step = .login
  }

  private mutating func askForTunnel() {
    output += [Self.version, 1, 0]
    switch target {
    case .host(let name, let port):
      output += [3, UInt8(name.utf8.count)] + Array(name.utf8)
      output += [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
    case .address(let address):
      let octets = address.octets
      output += [octets.count == 4 ? 1 : 4] + octets
      output += [UInt8(address.port >> 8), UInt8(truncatingIfNeeded: address.port)]
    }
    step = .reply
    isTargetAsked = true
  }

  /// The address that the proxy connected from follows, which nobody needs.
  private mutating func readAddress(ofType type: UInt8) {
    switch type {
    case 1: step = .address(bytes: 4)
    case 3: step = .nameLength
    case 4: step = .address(bytes: 16)
    default: progress = .refused("does not answer in SOCKS5: is it another kind of proxy?")
    }
  }

  /// The reply's code in words (RFC 1928, 6).
  private static func refusal(_ code: UInt8) -> String {
    let words =
      switch code {
      case 1: "has a failure of its own"
      case 2: "forbids the tunnel: have it allow the network's host and port"
      case 3: "cannot reach the network's net"
      case 4: "cannot reach the network's host"
      case 5: "is refused by the network's host"
      case 6: "cannot reach the network in its time"
      case 7: "does not make tunnels"
      case 8: "does not know addresses of this kind: try socks5h://"
      default: "refuses the tunnel"
      }
    return "\(words) (SOCKS \(code))"
  }
}
