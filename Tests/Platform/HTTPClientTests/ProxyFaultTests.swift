import LocalServices
import Reactor
import TestSupport
import Testing

@testable import HTTPClient

@Suite("HTTP client behind a proxy") struct ProxyFaultTests {
  private static let wrong = ProxyServer.Login(user: "push", password: "wr0ng")

  /// The error of a request through a proxy, after a look at what it must not hold.
  private static func failure(
    through proxy: ProxyServer, timeoutMs: Int = 20_000
  ) async -> HTTPClientError? {
    do throws(HTTPClientError) {
      _ = try await HTTPClient().perform(
        HTTPRequest(
          url: "https://network.invalid/secret", timeoutMs: timeoutMs, proxy: proxy))
      return nil
    } catch {
      for secret in ["wr0ng", "s3cret", "/secret"] {
        #expect(!error.message.contains(secret), "\(error)")
      }
      return error
    }
  }

  @Test(
    "is told which proxy refuses a tunnel, by which status, and in no words of the proxy's",
    arguments: ["407", "403", "502", "302"])
  func refusals(status: String) async {
    let server = LocalServer { _ in
      LocalServer.response(
        status: "\(status) push:s3cret",
        headers: "Proxy-Authenticate: Basic realm=\"s3cret\"\r\n", body: "push:s3cret")
    }
    defer { server.close() }
    let error = await Self.failure(
      through: ProxyServer(.http, host: "127.0.0.1", port: server.port, login: Self.wrong))
    #expect(error?.code == .proxy)
    let begin = "https://network.invalid: the proxy 127.0.0.1:\(server.port) "
    #expect(error?.message.hasPrefix(begin) == true, "\(String(describing: error))")
    #expect(error?.message.contains(status) == true, "\(String(describing: error))")
  }

  @Test(
    "is told of a proxy that does not speak HTTP, and of one that hangs up",
    arguments: ["SSH-2.0-s3cret\r\n\r\n", ""])
  func misanswers(answer: String) async {
    let server = LocalServer { _ in answer }
    defer { server.close() }
    let error = await Self.failure(
      through: ProxyServer(.http, host: "127.0.0.1", port: server.port, login: Self.wrong))
    #expect(error?.code == .proxy, "\(String(describing: error))")
  }

  @Test(
    "is told of a proxy that refuses its login",
    arguments: [TunnelProxy.Way.http, .socks5])
  func login(way: TunnelProxy.Way) async throws {
    try await TestLane.run { lane in
      let proxy = try TunnelProxy(loop: lane.loop, way: way, login: "push:s3cret")
      defer { proxy.close() }
      for login in [Self.wrong, nil] {
        let error = await Self.failure(through: proxy.server(login: login))
        #expect(error?.code == .proxy, "\(String(describing: error))")
        #expect(error?.message.contains("the proxy 127.0.0.1:\(proxy.port)") == true)
      }
      #expect(proxy.refusals == 2)
    }
  }

  @Test("is told of a proxy at which nobody listens", arguments: [ProxyServer.Way.http, .socks5h])
  func nobody(way: ProxyServer.Way) async throws {
    let error = await Self.failure(
      through: ProxyServer(way, host: "127.0.0.1", port: try FreePort.find()))
    #expect(error?.code == .proxy, "\(String(describing: error))")
  }

  @Test("is told of a proxy that never answers CONNECT")
  func silence() async throws {
    try await TestLane.run { lane in
      let proxy = try TunnelProxy(loop: lane.loop, way: .http)
      defer { proxy.close() }
      proxy.misanswer = []
      let error = await Self.failure(through: proxy.server(), timeoutMs: 500)
      #expect(error?.code == .proxy, "\(String(describing: error))")
    }
  }

  @Test("does not blame the proxy for what happens behind an open tunnel")
  func behind() async throws {
    let certificates = try TestCertificates()
    let authorities = try TrustStore.pem(certificates.authority.certificateFile)
    try await TestLane.run { lane in
      let proxy = try TunnelProxy(loop: lane.loop, way: .http)
      // The first request is answered, and no other.
      var asked = 0
      let server = try HTTP1Server(
        loop: lane.loop, tls: try certificates.serverContext(alpn: ["http/1.1"])
      ) { _ in
        asked += 1
        return asked == 1 ? HTTP1Server.response() : ""
      }
      defer {
        server.close()
        proxy.close()
      }
      let client = HTTPClient()
      var request = HTTPRequest(
        url: "https://localhost:\(server.port)/", authorities: authorities, proxy: proxy.server())
      #expect(try await client.perform(request).status == 200)
      request.timeoutMs = 500
      do throws(HTTPClientError) {
        _ = try await client.perform(request)
        Issue.record("silence was an answer")
      } catch {
        #expect(error.code == .timedOut, "\(error)")
        #expect(!error.message.contains("proxy"))
      }
      // The second request went through the first one's tunnel, for which no CONNECT of its own was answered.
      #expect(server.received == 2)
      #expect(proxy.targets == ["localhost:\(server.port)"])
    }
  }
}
