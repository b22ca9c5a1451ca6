import Glibc
import LocalServices
import Testing
import TestSupport

@testable import Reactor

@Suite("A tunnel through a proxy") struct TunnelTests {
  private static let login = ProxyServer.Login(user: "push", password: "s3cret")

  /// A server that echoes under TLS, a proxy before it, and a client's recorder; loop-bound.
  private final class World {
    let loop: EventLoop
    let occurrences: Occurrences
    let certificates: TestCertificates
    let server: TestServer
    let proxy: TunnelProxy
    let client: StreamRecorder
    private(set) var stream: ByteStream!

    init(
      _ loop: EventLoop, _ way: TunnelProxy.Way, on host: String = "127.0.0.1",
      serverOn serverHost: String = "127.0.0.1", expects login: String? = nil
    ) throws {
      self.loop = loop
      occurrences = Occurrences(loop: loop)
      certificates = try TestCertificates()
      server = try TestServer(
        loop: loop, endpoint: .tcp(host: serverHost, port: 0),
        tls: try certificates.serverContext(), occurrences: occurrences, prepare: TestServer.echo)
      proxy = try TunnelProxy(loop: loop, way: way, host: host, login: login)
      client = StreamRecorder(occurrences)
      proxy.onAccept = { [occurrences] in occurrences.note() }
    }

    /// - Parameter port: nil for the server's.
    func connect(
      to host: String, _ port: UInt16? = nil, through server: ProxyServer? = nil,
      timeoutMs: UInt64 = 20_000, resolver: Resolver = .shared
    ) throws {
      stream = ByteStream(loop: loop, delegate: client)
      stream.connect(
        to: .tcp(host: host, port: port ?? self.server.port), through: server ?? proxy.server(),
        tls: try certificates.clientContext(), timeoutMs: timeoutMs, resolver: resolver)
    }

    /// Whether what is said comes back.
    func echoes() async -> Bool {
      guard await occurrences.until({ client.opened == 1 || !client.endings.isEmpty }),
        client.opened == 1
      else { return false }
      let text = Array("hello through the tunnel".utf8)
      _ = text.withUnsafeBytes { stream.write($0) }
      stream.requestFlush()
      return await occurrences.until {
        client.received.count >= text.count || !client.endings.isEmpty
      } && client.received == text
    }

    /// The sentence by which it ended without having opened.
    func refusal() async -> String {
      guard await occurrences.until({ !client.endings.isEmpty }), client.opened == 0 else {
        return ""
      }
      return client.failure.map { "\($0)" } ?? ""
    }

    func close() {
      stream?.close()
      proxy.close()
    }
  }

  private static func with(
    _ way: TunnelProxy.Way, on host: String = "127.0.0.1",
    serverOn serverHost: String = "127.0.0.1", expects login: String? = nil,
    _ body: @Sendable (isolated TestLane, World) async throws -> Void
  ) async throws {
    try await TestLane.run { lane in
      let world = try World(lane.loop, way, on: host, serverOn: serverHost, expects: login)
      defer { world.close() }
      try await body(lane, world)
    }
  }

  @Test("carries TLS to the network, whose certificate is checked", arguments: [true, false])
  func carries(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5) { lane, world in
      try world.connect(to: "localhost")
      #expect(await world.echoes())
      #expect(world.proxy.targets == ["localhost:\(world.server.port)"])
    }
  }

  @Test("to a peer whose certificate has another name is not used")
  func wrongName() async throws {
    try await Self.with(.socks5) { lane, world in
      let names = ScriptedNames(["push.example": ["127.0.0.1"]])
      // The proxy is given an address, and the certificate must be the name's.
      try world.connect(
        to: "push.example", through: world.proxy.server(looksUpHere: true),
        resolver: names.resolver(threadsMax: 1))
      #expect(await world.refusal().contains("certificate"))
    }
  }

  @Test("is opened to whoever shows the login", arguments: [true, false])
  func login(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5, expects: "push:s3cret") { lane, world in
      try world.connect(to: "localhost", through: world.proxy.server(login: Self.login))
      #expect(await world.echoes())
      #expect(world.proxy.refusals == 0)
    }
  }

  @Test("is not opened to others, who are told what to give", arguments: [true, false])
  func noLogin(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5, expects: "push:s3cret") { lane, world in
      try world.connect(to: "localhost")
      let place = "the proxy 127.0.0.1:\(world.proxy.port)"
      #expect(
        await world.refusal()
          == "\(place) wants a login: give proxy_user and proxy_password_file"
          + (isHTTP ? " (407)" : ""))
      #expect(world.server.streams.isEmpty)
    }
  }

  @Test("is not opened to a wrong login, which nothing repeats", arguments: [true, false])
  func wrongLogin(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5, expects: "push:s3cret") { lane, world in
      let wrong = ProxyServer.Login(user: "push", password: "wr0ng")
      try world.connect(to: "localhost", through: world.proxy.server(login: wrong))
      let refusal = await world.refusal()
      #expect(refusal.contains("refuses the login: check proxy_user and proxy_password_file"))
      #expect(!refusal.contains("wr0ng"))
    }
  }

  @Test(
    "is asked for once with a login that the proxy refuses, however many addresses the network has")
  func wrongLoginOnce() async throws {
    try await Self.with(.socks5, expects: "push:s3cret") { lane, world in
      let names = ScriptedNames(["localhost": ["127.0.0.9", "127.0.0.8", "127.0.0.1"]])
      let wrong = ProxyServer.Login(user: "push", password: "wr0ng")
      try world.connect(
        to: "localhost", through: world.proxy.server(login: wrong, looksUpHere: true),
        resolver: names.resolver(threadsMax: 1))
      #expect(await world.refusal().contains("refuses the login"))
      #expect(world.proxy.refusals == 1)
    }
  }

  @Test("leads to a network in IPv6, through a proxy in IPv6", arguments: [true, false])
  func ipv6(isHTTP: Bool) async throws {
    // A machine may be without IPv6.
    guard Self.hasIPv6 else { return }
    try await Self.with(isHTTP ? .http : .socks5, on: "::1", serverOn: "::1") { lane, world in
      try world.connect(to: "::1")
      #expect(await world.echoes())
      #expect(world.proxy.targets.allSatisfy { $0.hasSuffix("]:\(world.server.port)") })
    }
  }

  @Test("by socks5:// leads to an address that was looked up here, and to the next where one fails")
  func lookedUpHere() async throws {
    try await Self.with(.socks5) { lane, world in
      // Nobody listens at the first one.
      let names = ScriptedNames(["localhost": ["127.0.0.9", "127.0.0.1"]])
      try world.connect(
        to: "localhost", through: world.proxy.server(looksUpHere: true),
        resolver: names.resolver(threadsMax: 1))
      #expect(await world.echoes())
      let port = world.server.port
      #expect(world.proxy.targets == ["127.0.0.9:\(port)", "127.0.0.1:\(port)"])
      #expect(names.asked == ["localhost"])
    }
  }

  @Test("to a network that the proxy cannot reach says so", arguments: [true, false])
  func unreachable(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5) { lane, world in
      world.server.listener.close()
      try world.connect(to: "127.0.0.1")
      let place = "the proxy 127.0.0.1:\(world.proxy.port)"
      #expect(
        await world.refusal()
          == (isHTTP
            ? "\(place) cannot reach the network (502)"
            : "\(place) is refused by the network's host (SOCKS 5)"))
    }
  }

  @Test("behind which the TLS handshake is cut says so", arguments: [true, false])
  func cutBehind(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5) { lane, world in
      // As a firewall behind the proxy does, to which the network's name means nothing good.
      let firewall = try Listener(loop: lane.loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
        Glibc.close($0)
      }
      defer { firewall.close() }
      try world.connect(to: "localhost", firewall.port)
      #expect(
        await world.refusal()
          == "the proxy 127.0.0.1:\(world.proxy.port) opened its tunnel, and the connection was "
          + "cut in the TLS handshake")
    }
  }

  @Test("is asked for at the next address of the proxy where one fails", arguments: [true, false])
  func nextProxyAddress(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5) { lane, world in
      // The first one drops what comes, at the second one nobody listens.
      let dead = try FullListener(address: "127.0.0.8", port: world.proxy.port)
      let names = ScriptedNames(["proxy.example": [dead.address, "127.0.0.9", "127.0.0.1"]])
      let proxy = ProxyServer(
        isHTTP ? .http : .socks5h, host: "proxy.example", port: world.proxy.port)
      try world.connect(to: "localhost", through: proxy, resolver: names.resolver(threadsMax: 1))
      #expect(await world.echoes())
      // The network's name is the proxy's to look up.
      #expect(names.asked == ["proxy.example"])
      #expect(world.proxy.targets == ["localhost:\(world.server.port)"])
      withExtendedLifetime(dead) {}
    }
  }

  @Test("of a proxy that takes no connection says so when the time is over")
  func deadProxy() async throws {
    try await Self.with(.http) { lane, world in
      let dead = try FullListener(address: "127.0.0.8", port: world.proxy.port)
      let proxy = ProxyServer(.http, host: dead.address, port: world.proxy.port)
      try world.connect(to: "localhost", through: proxy, timeoutMs: 300)
      #expect(
        await world.refusal()
          == "the proxy 127.0.0.8:\(world.proxy.port) does not answer to the connect in time")
      withExtendedLifetime(dead) {}
    }
  }

  @Test("of a proxy whose name nobody knows names the proxy's host, and no other")
  func unknownProxy() async throws {
    try await Self.with(.http) { lane, world in
      let names = ScriptedNames()
      let proxy = ProxyServer(.http, host: "proxy.example", port: 1, login: Self.login)
      try world.connect(to: "localhost", through: proxy, resolver: names.resolver(threadsMax: 1))
      #expect(await world.refusal() == "cannot resolve proxy.example: no such name")
    }
  }

  @Test("has a time limit of its own, less than that for connecting", arguments: [true, false])
  func silence(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5) { lane, world in
      world.proxy.misanswer = []
      let startNs = lane.loop.nowNs
      try world.connect(to: "localhost", timeoutMs: 2_000)
      #expect(
        await world.refusal()
          == "the proxy 127.0.0.1:\(world.proxy.port) has not opened its tunnel in time")
      #expect(lane.loop.nowNs - startNs >= 1_600_000_000)
    }
  }

  @Test("is given up when the proxy's headers never end")
  func endless() async throws {
    try await Self.with(.http) { lane, world in
      world.proxy.misanswer = Array(
        ("HTTP/1.1 200 OK\r\n" + String(repeating: "X-Header: value\r\n", count: 5_000)).utf8)
      try world.connect(to: "localhost")
      #expect(await world.refusal().contains("more than 16384 bytes of headers"))
    }
  }

  @Test("that nobody opens is told of once, from the loop and not from the call")
  func refused() async throws {
    try await Self.with(.http) { lane, world in
      let port = world.proxy.port
      world.proxy.close()
      try world.connect(to: "localhost")
      #expect(world.client.endings.isEmpty)
      #expect(await world.occurrences.until { !world.client.endings.isEmpty })
      #expect(
        world.client.endings == [
          .system(SystemError("connect to the proxy 127.0.0.1:\(port)", errno: ECONNREFUSED))
        ])
    }
  }

  @Test("of a proxy that hangs up is not open", arguments: [true, false])
  func hangsUp(isHTTP: Bool) async throws {
    try await Self.with(isHTTP ? .http : .socks5) { lane, world in
      world.proxy.misanswer = []
      try world.connect(to: "localhost")
      #expect(await world.occurrences.until { world.proxy.accepted == 1 })
      world.proxy.isDown = true
      #expect(
        await world.refusal()
          == "the proxy 127.0.0.1:\(world.proxy.port) closed the connection before its tunnel was "
          + "open")
    }
  }

  @Test("ends with the proxy that carries it")
  func dies() async throws {
    try await Self.with(.http) { lane, world in
      try world.connect(to: "localhost")
      #expect(await world.echoes())
      world.proxy.isDown = true
      #expect(await world.occurrences.until { !world.client.endings.isEmpty })
      #expect(world.client.endings.count == 1)
    }
  }

  @Test("can be given up at any moment, which is told once")
  func givenUp() async throws {
    try await Self.with(.http) { lane, world in
      world.proxy.misanswer = []
      for isEarly in [true, false] {
        let client = StreamRecorder(world.occurrences)
        let stream = ByteStream(loop: lane.loop, delegate: client)
        let accepted = world.proxy.accepted
        stream.connect(
          to: .tcp(host: "localhost", port: 1), through: world.proxy.server(), tls: nil,
          timeoutMs: 20_000)
        if !isEarly {
          #expect(await world.occurrences.until { world.proxy.accepted > accepted })
        }
        stream.close()
        #expect(client.endings == [nil])
        await lane.loop.sleep(ms: 10)
        #expect(client.endings == [nil])
        #expect(client.opened == 0)
      }
    }
  }

  private static var hasIPv6: Bool {
    let descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
      }
    }
  }
}
