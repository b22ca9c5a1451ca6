import Glibc
import LocalServices
import Reactor
import Testing
import TestSupport

@Suite("A byte stream")
struct ByteStreamTests {
  enum Transport: CaseIterable { case tcp, unix, tcpTLS, unixTLS }

  @Test("echoes 10 MB unharmed through bounded buffers", arguments: Transport.allCases)
  func echo(transport: Transport) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let isTLS = transport == .tcpTLS || transport == .unixTLS
      let isUnix = transport == .unix || transport == .unixTLS
      let path = certificates.folder.file("echo.sock")
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(
        loop: lane.loop, endpoint: isUnix ? .unix(path: path) : .tcp(host: "127.0.0.1", port: 0),
        tls: isTLS ? try certificates.serverContext() : nil, occurrences: occurrences,
        prepare: TestServer.echo)
      let client = StreamRecorder(occurrences)
      let pattern = BytePattern(count: 10 << 20)
      client.onFill = pattern.fill
      client.onRead = pattern.check
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(
        to: isUnix ? .unix(path: path) : .tcp(host: "localhost", port: server.port),
        tls: isTLS ? try certificates.clientContext() : nil, serverName: "localhost",
        timeoutMs: 20_000)
      #expect(
        await occurrences.until { pattern.checked == pattern.count || !client.endings.isEmpty })
      #expect(pattern.isUnharmed)
      #expect(pattern.checked == pattern.count)
      #expect(client.outputWaitingMax <= 256 * 1024)
      #expect(server.recorders[0].outputWaitingMax <= 256 * 1024)
      stream.close()
      stream.close()
      #expect(await occurrences.until { server.recorders[0].endings.count == 1 })
      #expect(client.opened == 1)
      #expect(client.endings == [nil])
      #expect(server.recorders[0].endings == [nil])
    }
  }

  @Test("refuses a write that does not fit, taking nothing of it")
  func boundedOutput() async throws {
    try await TestLane.run { lane in
      let recorder = StreamRecorder(Occurrences(loop: lane.loop))
      let stream = ByteStream(loop: lane.loop, delegate: recorder, outputBytesMax: 10_000)
      let bytes = [UInt8](repeating: 1, count: 6_000)
      #expect(bytes.withUnsafeBytes { stream.write($0) })
      #expect(stream.outputRoom == 4_000)
      #expect(!bytes.withUnsafeBytes { stream.write($0) })
      #expect(stream.outputWaiting == 6_000)
      stream.close()
      #expect(!bytes.withUnsafeBytes { stream.write(.init(rebasing: $0[..<1])) })
      #expect(recorder.endings == [nil])
    }
  }

  @Test("reads nothing while paused and misses nothing afterwards", arguments: [false, true])
  func pause(isTLS: Bool) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(
        loop: lane.loop, tls: isTLS ? try certificates.serverContext() : nil,
        occurrences: occurrences
      ) { recorder in recorder.onOpen = { $0.pauseReading() } }
      let client = StreamRecorder(occurrences)
      let pattern = BytePattern(count: 16 << 20)
      client.onFill = pattern.fill
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: server.port),
        tls: isTLS ? try certificates.clientContext() : nil, timeoutMs: 20_000)
      #expect(await occurrences.until { server.recorders.first?.opened == 1 })
      await lane.loop.sleep(ms: 20)
      #expect(server.recorders[0].received.isEmpty)
      // TCP has pushed back.
      #expect(stream.outputWaiting > 0)
      server.recorders[0].onRead = pattern.check
      server.streams[0].resumeReading()
      #expect(await occurrences.until { pattern.checked == pattern.count })
      #expect(pattern.isUnharmed)
      stream.close()
    }
  }

  @Test("tells of a close by the peer after the last of its bytes", arguments: [false, true])
  func closeByPeer(isTLS: Bool) async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(
        loop: lane.loop, tls: isTLS ? try certificates.serverContext() : nil,
        occurrences: occurrences
      ) { recorder in
        var isSent = false
        recorder.onFill = { stream in
          if isSent { return stream.close() }
          isSent = true
          _ = [UInt8](repeating: 7, count: 2_000).withUnsafeBytes { stream.write($0) }
        }
      }
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: server.port),
        tls: isTLS ? try certificates.clientContext() : nil, timeoutMs: 20_000)
      #expect(await occurrences.until { !client.endings.isEmpty })
      #expect(client.received == [UInt8](repeating: 7, count: 2_000))
      #expect(client.endings == [nil])
    }
  }

  @Test("reports a TLS connection cut without a closing alert as truncated")
  func cut() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(
        loop: lane.loop, tls: try certificates.serverContext(), occurrences: occurrences)
      let proxy = try TestServer(loop: lane.loop, occurrences: occurrences)
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: proxy.port), tls: try certificates.clientContext(),
        timeoutMs: 20_000)
      #expect(await occurrences.until { proxy.recorders.first?.opened == 1 })
      // The proxy carries bytes both ways in clear, so that its close is no TLS close.
      let back = StreamRecorder(occurrences)
      let upstream = ByteStream(loop: lane.loop, delegate: back)
      upstream.connect(
        to: .tcp(host: "127.0.0.1", port: server.port), tls: nil, timeoutMs: 20_000)
      #expect(await occurrences.until { back.opened == 1 })
      Self.carry(from: proxy.recorders[0], to: upstream)
      Self.carry(from: back, to: proxy.streams[0])
      // Both open: the proxy has carried all there is, and unread bytes would make its close a reset.
      #expect(
        await occurrences.until { client.opened == 1 && server.recorders.first?.opened == 1 })
      proxy.streams[0].close()
      #expect(await occurrences.until { !client.endings.isEmpty })
      #expect(client.endings == [.truncated])
      upstream.close()
    }
  }

  @Test("cut with a TCP reset says so, once")
  func reset() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(to: .tcp(host: "127.0.0.1", port: server.port), tls: nil, timeoutMs: 20_000)
      #expect(await occurrences.until { client.opened == 1 && !server.streams.isEmpty })
      server.streams[0].abort()
      #expect(await occurrences.until { !client.endings.isEmpty })
      #expect(client.failure == .system(SystemError("recv", errno: ECONNRESET)))
    }
  }

  @Test("that is closed or fails is let go of, with its delegate", arguments: [false, true])
  func isFreed(isClosedByUs: Bool) async throws {
    try await TestLane.run { lane in
      weak var released: ByteStream?
      weak var releasedDelegate: StreamRecorder?
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      do {
        let client = StreamRecorder(occurrences)
        let stream = ByteStream(loop: lane.loop, delegate: client)
        released = stream
        releasedDelegate = client
        stream.connect(
          to: .tcp(host: "127.0.0.1", port: server.port), tls: nil, timeoutMs: 3_600_000)
        #expect(await occurrences.until { client.opened == 1 && !server.streams.isEmpty })
        if isClosedByUs { stream.close() } else { server.streams[0].close() }
        #expect(await occurrences.until { !client.endings.isEmpty })
      }
      await lane.loop.sleep(ms: 1)
      #expect(released == nil)
      #expect(releasedDelegate == nil)
    }
  }

  private static func carry(from source: StreamRecorder, to target: ByteStream) {
    let pass: (ByteStream, UnsafeRawBufferPointer) -> Void = { _, bytes in
      _ = target.write(bytes)
      target.requestFlush()
    }
    source.received.withUnsafeBytes { pass(target, $0) }
    source.onRead = pass
  }
}
