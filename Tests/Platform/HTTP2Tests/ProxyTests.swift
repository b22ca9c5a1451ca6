import HTTP2
import HTTPClient
import LocalServices
import Reactor
import Testing
import TestSupport

@Suite("Pushes through a proxy") struct ProxyTests {
  @Test("arrive by CONNECT and by SOCKS5, in one tunnel", arguments: [true, false])
  func tunnel(isHTTP: Bool) async throws {
    try await Self.run(isHTTP ? .http : .socks5) { lane, world, proxy in
      world.sender.send(200)
      #expect(await world.untilFinished(200))
      #expect(world.sender.count(.yes) == 200)
      guard case .tcp(_, let port) = world.server.endpoint else { return }
      #expect(proxy.targets == ["localhost:\(port)"])
    }
  }

  @Test("show the login that the configuration gives")
  func login() async throws {
    let login = ProxyServer.Login(user: "push", password: "s3cret")
    try await Self.run(.http, expects: "push:s3cret", shows: login) { lane, world, proxy in
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      #expect(world.sender.endedOnce == [.yes])
      #expect(proxy.refusals == 0)
    }
  }

  @Test("are not sent when it refuses, and its reason names no secret")
  func refusal() async throws {
    let login = ProxyServer.Login(user: "push", password: "wr0ng")
    #expect("\(ProxyServer(url: "http://p:1", login: login))" == "http://p:1")
    try await Self.run(.http, expects: "push:s3cret", shows: login) { lane, world, proxy in
      world.sender.send(1)
      #expect(await world.until { !world.sender.connectionEnds.isEmpty })
      let reason = "\(world.sender.connectionEnds[0])"
      #expect(reason.contains("407"))
      #expect(!reason.contains("wr0ng"))
      #expect(world.sender.submitted == 0)
      #expect(world.server.received == 0)
    }
  }

  @Test("wait while it is down, and go on when it is back")
  func down() async throws {
    try await Self.run(.http) { lane, world, proxy in
      await world.warmUp()
      proxy.isDown = true
      #expect(await world.until { world.transport.readyConnections == 0 })
      world.sender.send(10)
      #expect(await world.until { world.sender.connectionEnds.count >= 3 })
      #expect(world.sender.submitted == 1)
      proxy.isDown = false
      #expect(await world.untilFinished(11))
      #expect(world.sender.count(.yes) == 11)
    }
  }

  /// A world whose curl transport goes through a proxy, which is named for its certificate.
  private static func run(
    _ way: TunnelProxy.Way, expects login: String? = nil, shows: ProxyServer.Login? = nil,
    _ body:
      @Sendable (isolated TestLane, TestWorld, TunnelProxy) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let proxy = try TunnelProxy(loop: lane.loop, way: way, login: login)
      let world = try TestWorld(
        lane.loop, certificates, .curl, ProxyServer(url: proxy.url, login: shows)
      ) {
        guard case .tcp(_, let port) = $0.endpoint else { return }
        $0.endpoint = .tcp(host: "localhost", port: port)
      }
      defer {
        world.close()
        proxy.close()
      }
      try await body(lane, world, proxy)
    }
  }
}
