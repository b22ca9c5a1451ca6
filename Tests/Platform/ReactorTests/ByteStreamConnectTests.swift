import Glibc
import LocalServices
import Reactor
import Testing
import TestSupport

@Suite("Connecting a byte stream")
struct ByteStreamConnectTests {
  @Test("to a port where nobody listens fails once, from the loop and not from the call")
  func refused() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let port = try Self.closedPort(lane.loop)
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      let endpoint = Endpoint.tcp(host: "127.0.0.1", port: port)
      stream.connect(to: endpoint, tls: nil, timeoutMs: 20_000)
      #expect(client.endings.isEmpty)
      #expect(await occurrences.until { !client.endings.isEmpty })
      await lane.loop.sleep(ms: 5)
      #expect(
        client.endings == [.system(SystemError("connect to \(endpoint)", errno: ECONNREFUSED))])
      #expect(client.opened == 0)
    }
  }

  @Test("to a missing unix socket, or a path too long for one, names the path")
  func noUnixSocket() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      for path in ["/nonexistent/a.sock", "/" + String(repeating: "x", count: 200)] {
        let client = StreamRecorder(occurrences)
        let stream = ByteStream(loop: lane.loop, delegate: client)
        stream.connect(to: .unix(path: path), tls: nil, timeoutMs: 20_000)
        #expect(await occurrences.until { !client.endings.isEmpty })
        #expect(client.failure?.description.contains(path) == true)
      }
    }
  }

  @Test("to a host that cannot be resolved names it")
  func unresolved() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(to: .tcp(host: "no host", port: 1), tls: nil, timeoutMs: 20_000)
      #expect(await occurrences.until { !client.endings.isEmpty })
      #expect(client.failure?.description.contains("cannot resolve no host") == true)
    }
  }

  @Test("tries every address of a host", arguments: ["127.0.0.1", "::1"])
  func allAddresses(listening: String) async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      // A machine without IPv6 has one address only, and nothing to try.
      guard
        let server = try? TestServer(
          loop: lane.loop, endpoint: .tcp(host: listening, port: 0), occurrences: occurrences)
      else { return }
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      let addresses = Self.addressCount(of: "localhost")
      stream.connect(to: .tcp(host: "localhost", port: server.port), tls: nil, timeoutMs: 20_000)
      #expect(await occurrences.until { client.opened == 1 || !client.endings.isEmpty })
      if addresses > 1 || listening == "127.0.0.1" { #expect(client.opened == 1) }
      stream.close()
    }
  }

  @Test("gives up in time when the peer accepts but never answers the handshake")
  func handshakeTimeout() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      let endpoint = Endpoint.tcp(host: "127.0.0.1", port: server.port)
      stream.connect(to: endpoint, tls: try certificates.clientContext(), timeoutMs: 1_000)
      #expect(await occurrences.until { !client.endings.isEmpty })
      #expect(client.endings == [.handshakeTimeout(endpoint)])
    }
  }

  @Test("is given up in time by a server whose client never says hello")
  func acceptTimeout() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let accepted = StreamRecorder(occurrences)
      let context = try certificates.serverContext()
      let stream = ByteStream(loop: lane.loop, delegate: accepted)
      let listener = try Listener(
        loop: lane.loop, endpoint: .tcp(host: "127.0.0.1", port: 0)
      ) { stream.adopt(descriptor: $0, tls: context, timeoutMs: 50) }
      let client = ByteStream(loop: lane.loop, delegate: StreamRecorder(occurrences))
      client.connect(
        to: .tcp(host: "127.0.0.1", port: listener.port), tls: nil, timeoutMs: 20_000)
      #expect(await occurrences.until { !accepted.endings.isEmpty })
      #expect(accepted.failure?.description.contains("in time") == true)
      #expect(accepted.opened == 0)
      client.close()
      listener.close()
    }
  }

  @Test("can be given up at any moment, which is told once")
  func closedWhileConnecting() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      for endpoint in [
        Endpoint.tcp(host: "localhost", port: server.port),
        .tcp(host: "127.0.0.1", port: server.port), .unix(path: "/nonexistent/a.sock"),
      ] {
        let client = StreamRecorder(occurrences)
        let stream = ByteStream(loop: lane.loop, delegate: client)
        stream.connect(to: endpoint, tls: nil, timeoutMs: 20_000)
        stream.close()
        #expect(client.endings == [nil])
        await lane.loop.sleep(ms: 10)
        #expect(client.endings == [nil])
        #expect(client.opened == 0)
      }
    }
  }

  /// A port that was free a moment ago and on which nobody listens.
  private static func closedPort(_ loop: EventLoop) throws -> UInt16 {
    let listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) { _ in }
    defer { listener.close() }
    return listener.port
  }

  private static func addressCount(of host: String) -> Int {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return 0 }
    defer { freeaddrinfo(list) }
    return sequence(first: list!) { $0.pointee.ai_next }.reduce(0) { count, _ in count + 1 }
  }
}
