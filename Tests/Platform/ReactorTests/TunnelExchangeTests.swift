import Testing

@testable import Reactor

@Suite("The words for a tunnel") struct TunnelExchangeTests {
  private static let login = ProxyServer.Login(user: "push", password: "s3cret")
  private static let name = TunnelTarget.host("api.push.example", port: 443)
  private static let headersMax = ReactorLimits.tunnelAnswerBytesMax

  private static func address(_ text: String) throws -> TunnelTarget {
    let found = SocketAddress.lookUp(host: text, port: 2_197, numericOnly: true)
    return .address(try #require(try found.get().first))
  }

  /// Has an exchange read an answer in pieces of this length.
  /// - Returns: how many bytes it took.
  private static func hear(
    _ answer: [UInt8], by exchange: inout any TunnelExchange, piece: Int = .max
  ) -> Int {
    var taken = 0
    while taken < answer.count, exchange.progress == .goesOn {
      let end = taken + min(piece, answer.count - taken)
      taken += answer[taken..<end].withUnsafeBytes { exchange.take($0) }
    }
    return taken
  }

  private static func connect(
    _ answer: String, login: ProxyServer.Login? = nil, piece: Int = .max
  ) -> (progress: TunnelProgress, taken: Int) {
    var exchange: any TunnelExchange = ConnectExchange(to: name, login: login)
    let taken = hear(Array(answer.utf8), by: &exchange, piece: piece)
    return (exchange.progress, taken)
  }

  // MARK: CONNECT

  @Test("by CONNECT name the network, and show the login by Basic")
  func request() throws {
    let open = ConnectExchange(to: Self.name, login: nil)
    #expect(
      String(decoding: open.output, as: UTF8.self)
        == "CONNECT api.push.example:443 HTTP/1.1\r\nHost: api.push.example:443\r\n\r\n")
    let shown = ConnectExchange(to: .host("::1", port: 9), login: Self.login)
    #expect(
      String(decoding: shown.output, as: UTF8.self)
        == "CONNECT [::1]:9 HTTP/1.1\r\nHost: [::1]:9\r\n"
        + "Proxy-Authorization: Basic cHVzaDpzM2NyZXQ=\r\n\r\n")
    let ipv6 = ConnectExchange(to: try Self.address("2001:db8::7"), login: nil)
    #expect(
      String(decoding: ipv6.output, as: UTF8.self).hasPrefix("CONNECT [2001:db8::7]:2197 HTTP/1.1"))
  }

  @Test(
    "end with the headers of a 2xx, in whatever pieces they come, and take nothing behind them",
    arguments: [1, 2, 7, 1_000])
  func opens(piece: Int) {
    for headers in [
      "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nVia: x\r\n\r\n",
      "HTTP/1.1 204\nServer: y\n\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ] {
      let heard = Self.connect(headers + "\u{16}\u{03}\r\n\r\n", piece: piece)
      #expect(heard.progress == .open, "\(headers)")
      #expect(heard.taken == headers.utf8.count, "\(headers)")
    }
  }

  @Test("say in ours why there is no tunnel")
  func refusals() {
    let expected: [(String, String)] = [
      ("403 Forbidden", "forbids the tunnel (403): have it allow the network's host and port"),
      ("405 Method Not Allowed", "does not take CONNECT (405)"),
      ("501 Not Implemented", "does not take CONNECT (501)"),
      ("502 Bad Gateway", "cannot reach the network (502)"),
      ("503 Service Unavailable", "cannot reach the network (503)"),
      ("504 Gateway Timeout", "cannot reach the network (504)"),
      ("302 Found", "refuses the tunnel (302)"),
      ("101 Switching Protocols", "refuses the tunnel (101)"),
      ("429 Too Many Requests", "refuses the tunnel (429)"),
      ("407 x", "wants a login: give proxy_user and proxy_password_file (407)"),
      (
        "407 x\r\nProxy-Authenticate: NTLM\r\nproxy-authenticate: Negotiate, x",
        "wants a login by NTLM or Negotiate (407): pushpool shows one by Basic only"
      ),
    ]
    for (line, words) in expected {
      guard case .refused(let reason) = Self.connect("HTTP/1.1 \(line)\r\n\r\n").progress else {
        Issue.record("\(line) opened a tunnel")
        continue
      }
      #expect(reason.hasPrefix(words), "\(reason)")
    }
    #expect(
      Self.connect(
        "HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm=\"y\"\r\n\r\n", login: Self.login
      ).progress == .refused("refuses the login: check proxy_user and proxy_password_file (407)"))
  }

  @Test("find the login by Basic among others in one line")
  func listedSchemes() {
    #expect(
      Self.connect(
        "HTTP/1.1 407 x\r\nProxy-Authenticate: Negotiate, Digest realm=\"a, b\", Basic realm=\"y\"\r\n\r\n"
      ).progress == .refused("wants a login: give proxy_user and proxy_password_file (407)"))
  }

  @Test("do not repeat what the proxy says, which may be the login")
  func secrecy() {
    for answer in [
      "HTTP/1.1 407 cHVzaDpzM2NyZXQ= push:s3cret\r\nProxy-Authenticate: s3cret\r\n\r\n",
      "HTTP/1.1 500 push:s3cret\r\n\r\n", "push:s3cret\r\n",
    ] {
      let progress = "\(Self.connect(answer, login: Self.login).progress)"
      #expect(progress.contains("refused"))
      #expect(!progress.contains("s3cret") && !progress.contains("cHVz"))
    }
  }

  @Test("with who speaks no HTTP end at once", arguments: ["\u{5}\u{0}", "SSH-2.0", "HTTP/2 200 "])
  func foreign(answer: String) {
    guard case .refused(let reason) = Self.connect(answer + "\r\n\r\n").progress else {
      Issue.record("\(answer) opened a tunnel")
      return
    }
    #expect(reason.hasPrefix("does not answer in HTTP/1.1"))
  }

  @Test("with headers that never end have a bound, as lines and as one line")
  func endless() {
    for filler in ["X-Header: value\r\n", "x"] {
      let count = 2 * Self.headersMax / filler.utf8.count
      let answer = "HTTP/1.1 200 OK\r\n" + String(repeating: filler, count: count)
      let heard = Self.connect(answer, piece: 1_000)
      #expect(
        heard.progress
          == .refused("answers CONNECT with more than \(Self.headersMax) bytes of headers"))
      #expect(heard.taken <= Self.headersMax + 1_000)
    }
  }

  // MARK: SOCKS5

  /// What is said for a tunnel, one answer after the other.
  private static func socks(
    to target: TunnelTarget, login: ProxyServer.Login? = nil, _ answers: [[UInt8]],
    piece: Int = .max
  ) -> (said: [[UInt8]], progress: TunnelProgress, left: Int) {
    var exchange: any TunnelExchange = SOCKSExchange(to: target, login: login)
    var said: [[UInt8]] = []
    var left = 0
    for answer in answers {
      said.append(exchange.output)
      exchange.output.removeAll()
      left = answer.count - hear(answer, by: &exchange, piece: piece)
    }
    said.append(exchange.output)
    return (said, exchange.progress, left)
  }

  private static let yes: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]

  @Test("by SOCKS5 name the network, whose name the proxy looks up", arguments: [1, 3, 1_000])
  func socksName(piece: Int) {
    let heard = Self.socks(to: Self.name, [[5, 0], Self.yes + [9, 9]], piece: piece)
    let host = Array("api.push.example".utf8)
    #expect(heard.said == [[5, 1, 0], [5, 1, 0, 3, 16] + host + [1, 187], []])
    #expect(heard.progress == .open)
    #expect(heard.left == 2)
  }

  @Test("give addresses as such, and take any kind of address for an answer")
  func socksAddresses() throws {
    let four = Self.socks(to: try Self.address("192.0.2.7"), [[5, 0]])
    #expect(four.said.last == [5, 1, 0, 1, 192, 0, 2, 7, 8, 149])
    let six = Self.socks(to: try Self.address("2001:db8::7"), [[5, 0]])
    #expect(
      six.said.last == [5, 1, 0, 4, 0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11)
        + [7, 8, 149])
    for reply in [
      [5, 0, 0, 4] + [UInt8](repeating: 0, count: 18), [5, 0, 0, 3, 2, 97, 98, 0, 80],
    ] {
      let heard = Self.socks(to: Self.name, [[5, 0], reply])
      #expect(heard.progress == .open)
      #expect(heard.left == 0)
    }
  }

  @Test("show the login to a proxy that wants one, and to no other")
  func socksLogin() {
    let shown = Self.socks(to: Self.name, login: Self.login, [[5, 2], [1, 0], Self.yes])
    #expect(shown.said[0] == [5, 2, 0, 2])
    #expect(shown.said[1] == [1, 4] + Array("push".utf8) + [6] + Array("s3cret".utf8))
    #expect(shown.progress == .open)
    let open = Self.socks(to: Self.name, login: Self.login, [[5, 0], Self.yes])
    #expect(open.said[1].starts(with: [5, 1, 0, 3]))
    #expect(open.progress == .open)
  }

  @Test("say in ours why a SOCKS5 proxy refuses")
  func socksRefusals() {
    func reason(_ login: ProxyServer.Login?, _ answers: [UInt8]...) -> String {
      guard case .refused(let reason) = Self.socks(to: Self.name, login: login, answers).progress
      else { return "" }
      return reason
    }
    #expect(reason(nil, [5, 255]) == "wants a login: give proxy_user and proxy_password_file")
    #expect(reason(nil, [5, 2]) == "wants a login: give proxy_user and proxy_password_file")
    #expect(reason(Self.login, [5, 255]) == "takes no login by user and password")
    #expect(
      reason(Self.login, [5, 2], [1, 1])
        == "refuses the login: check proxy_user and proxy_password_file")
    let words = (1...9).map { reason(nil, [5, 0], [5, UInt8($0)]) }
    #expect(Set(words).count == 9)
    for (code, text) in words.enumerated() { #expect(text.hasSuffix("(SOCKS \(code + 1))")) }
    #expect(words[1].hasPrefix("forbids the tunnel"))
    #expect(words[4].hasPrefix("is refused by the network's host"))
    for answer: [UInt8] in [[4, 0], Array("HTTP/1.1".utf8), [5, 0, 5, 0, 0, 7]] {
      #expect(
        reason(nil, Array(answer.prefix(2)), Array(answer.dropFirst(2)))
          == "does not answer in SOCKS5: is it another kind of proxy?")
    }
  }

  @Test("refuse by themselves what SOCKS5 has no room for")
  func socksBounds() {
    let long = String(repeating: "x", count: 256)
    for (target, login) in [
      (TunnelTarget.host(long, port: 1), nil),
      (Self.name, ProxyServer.Login(user: "push", password: long)),
    ] {
      let exchange = SOCKSExchange(to: target, login: login)
      guard case .refused(let reason) = exchange.progress else {
        Issue.record("256 bytes were taken")
        continue
      }
      #expect(reason.contains("255 bytes") && !reason.contains(long))
    }
  }
}
