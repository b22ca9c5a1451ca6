import HTTP2
import LocalServices
import Reactor
import Testing
import TestSupport

@Suite("Pushes through a proxy") struct ProxyTests {
  /// The worker's own transport, and libcurl for networks that take many pushes a request.
  private static let kinds = [TransportKind.native, .curl]
  private static let login = ProxyServer.Login(user: "push", password: "s3cret")

  @Test("arrive by CONNECT, in one tunnel", arguments: kinds)
  func connect(kind: TransportKind) async throws { try await Self.sends(.http, kind) }

  @Test("arrive by SOCKS5, in one tunnel", arguments: kinds)
  func socks(kind: TransportKind) async throws { try await Self.sends(.socks5, kind) }

  private static func sends(_ way: TunnelProxy.Way, _ kind: TransportKind) async throws {
    try await run(way, kind) { lane, world, proxy in
      world.resendUnsent()
      world.sender.send(200)
      #expect(await world.untilAccepted(200))
      #expect(world.sender.count(.yes) == 200)
      guard case .tcp(_, let port) = world.server.endpoint else { return }
      #expect(proxy.targets == ["localhost:\(port)"])
    }
  }

  @Test("show the login that the configuration gives", arguments: kinds)
  func connectLogin(kind: TransportKind) async throws { try await Self.showsLogin(.http, kind) }

  @Test("show it to a SOCKS5 proxy as well", arguments: kinds)
  func socksLogin(kind: TransportKind) async throws { try await Self.showsLogin(.socks5, kind) }

  private static func showsLogin(_ way: TunnelProxy.Way, _ kind: TransportKind) async throws {
    try await run(way, kind, expects: "push:s3cret", shows: login) { lane, world, proxy in
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      #expect(world.sender.endedOnce == [.yes])
      #expect(proxy.refusals == 0)
    }
  }

  @Test("are not sent when it refuses, and its reason names no secret", arguments: kinds)
  func refusal(kind: TransportKind) async throws {
    let login = ProxyServer.Login(user: "push", password: "wr0ng")
    let named = ProxyServer(.http, host: "p", port: 1, login: login)
    #expect("\(named)" == "http://p:1" && !String(reflecting: named).contains("wr0ng"))
    try await Self.run(.http, kind, expects: "push:s3cret", shows: login) { lane, world, proxy in
      world.sender.send(1)
      #expect(await world.until { !world.sender.connectionEnds.isEmpty })
      let reason = "\(world.sender.connectionEnds[0])"
      #expect(reason.contains("refuses the login: check proxy_user and proxy_password_file (407)"))
      #expect(!reason.contains("wr0ng"))
      #expect(world.sender.submitted == 0)
      #expect(world.server.received == 0)
    }
  }

  @Test("wait with the reason in words, and are tried with pauses while it refuses")
  func pauses() async throws {
    try await Self.run(.http, .native) { lane, world, proxy in
      proxy.misanswer = Array("HTTP/1.1 403 s3cret\r\n\r\n".utf8)
      world.sender.send(1)
      #expect(await world.until { world.sender.connectionEnds.count >= 3 })
      for end in world.sender.connectionEnds {
        #expect(
          "\(end)" == "the proxy 127.0.0.1:\(proxy.port) forbids the tunnel (403): have it allow "
            + "the network's host and port")
      }
      #expect(world.sender.submitted == 0)
      proxy.misanswer = nil
      #expect(await world.untilAccepted(1))
      #expect(world.server.received == 1)
    }
  }

  @Test("wait while it is down, and go on when it is back", arguments: kinds)
  func down(kind: TransportKind) async throws {
    try await Self.run(.http, kind) { lane, world, proxy in
      await world.warmUp()
      proxy.isDown = true
      #expect(await world.until { world.transport.readyConnections == 0 })
      world.sender.send(10)
      #expect(await world.until { world.sender.connectionEnds.count >= 3 })
      #expect(world.sender.submitted == 1)
      world.resendUnsent()
      proxy.isDown = false
      #expect(await world.untilAccepted(11))
      #expect(world.sender.count(.yes) == 11)
    }
  }

  @Test("that it had when it died are unknown, and none of them is sent twice by itself")
  func dies() async throws {
    try await Self.run(.http, .native) { lane, world, proxy in
      await world.warmUp()
      world.server.onRequest = { _, _ in }
      world.sender.send(10)
      try #require(await world.until { world.server.received == 11 })
      proxy.cut()
      #expect(await world.untilFinished(11))
      #expect(world.sender.count(.unknown) == 10)
      world.server.onRequest = ScriptedServer.answer
      world.sender.send(1)
      #expect(await world.untilFinished(12))
      #expect(world.server.received == 12)
      #expect(proxy.targets.count == 2)
    }
  }

  /// A world that is reached through a proxy, and named for its certificate.
  private static func run(
    _ way: TunnelProxy.Way, _ kind: TransportKind, expects login: String? = nil,
    shows: ProxyServer.Login? = nil,
    _ body:
      @Sendable (isolated TestLane, TestWorld, TunnelProxy) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let proxy = try TunnelProxy(loop: lane.loop, way: way, login: login)
      let world = try TestWorld(lane.loop, certificates, kind) {
        guard case .tcp(_, let port) = $0.endpoint else { return }
        $0.endpoint = .tcp(host: "localhost", port: port)
        $0.proxy = proxy.server(login: shows)
      }
      defer {
        world.close()
        proxy.close()
      }
      try await body(lane, world, proxy)
    }
  }
}
