import Glibc
import LocalServices
import Testing
import TestSupport

@testable import Reactor

@Suite("A loop with nothing to do")
struct IdleLoopTests {
  /// Far more than what really happens brings about, and far fewer than a loop makes that does not sleep.
  private static let turnsMax = 50

  /// How often the loop turned while nothing happened for a moment.
  private static func turns(_ loop: EventLoop) async -> Int {
    let before = loop.turns
    await loop.sleep(ms: 200)
    return loop.turns - before
  }

  @Test("sleeps beside a peer that has closed its half while nobody reads")
  func halfClosed() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences) { recorder in
        recorder.onOpen = { $0.pauseReading() }
      }
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: server.port), tls: nil, timeoutMs: 20_000)
      #expect(
        await occurrences.until { client.opened == 1 && server.streams.first?.isOpen == true })
      _ = [UInt8](repeating: 1, count: 1_000).withUnsafeBytes { stream.write($0) }
      stream.requestFlush()
      await lane.loop.sleep(ms: 20)
      #expect(shutdown(stream.descriptor, CInt(SHUT_WR)) == 0)
      #expect(await Self.turns(lane.loop) < Self.turnsMax)
      #expect(server.streams[0].isOpen)
      stream.close()
    }
  }

  @Test("sleeps beside a peer that takes nothing more")
  func unreadOutput() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences) { recorder in
        recorder.onOpen = { $0.pauseReading() }
      }
      let client = StreamRecorder(occurrences)
      let bytes = [UInt8](repeating: 1, count: 64 * 1_024)
      client.onFill = { stream in
        while bytes.withUnsafeBytes({ stream.write($0) }) {}
        stream.requestFlush()
      }
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: server.port), tls: nil, timeoutMs: 20_000)
      #expect(await occurrences.until { client.opened == 1 })
      await lane.loop.sleep(ms: 100)
      #expect(stream.outputWaiting > 0)
      #expect(await Self.turns(lane.loop) < Self.turnsMax)
      stream.close()
    }
  }

  @Test("sleeps while a handshake is not answered, though the socket could be written to")
  func silentHandshake() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: StreamRecorder(occurrences))
      stream.connect(
        to: .tcp(host: "127.0.0.1", port: server.port), tls: try certificates.clientContext(),
        timeoutMs: 20_000)
      #expect(await occurrences.until { server.streams.first?.isOpen == true })
      await lane.loop.sleep(ms: 20)
      #expect(await Self.turns(lane.loop) < Self.turnsMax)
      stream.close()
    }
  }

  @Test("sleeps while several addresses do not answer")
  func deadAddresses() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      let dead = try (2...5).map { try FullListener(address: "127.0.0.\($0)", port: server.port) }
      let names = ScriptedNames(["dead.test": dead.map(\.address)])
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(
        to: .tcp(host: "dead.test", port: server.port), tls: nil, timeoutMs: 20_000,
        resolver: names.resolver(threadsMax: 1))
      #expect(await Self.turns(lane.loop) < Self.turnsMax)
      #expect(client.endings.isEmpty)
      stream.close()
      withExtendedLifetime(dead) {}
    }
  }
}
