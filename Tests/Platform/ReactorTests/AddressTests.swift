import Glibc
import LocalServices
import Testing
import TestSupport

@testable import Reactor

@Suite("Connecting to a host of several addresses")
struct AddressTests {
  private static let host = "several.test"

  /// One connection of a client to `several.test`.
  private final class Client {
    let recorder: StreamRecorder
    let stream: ByteStream

    init(
      _ loop: EventLoop, _ occurrences: Occurrences, port: UInt16, tls: TLSContext?,
      resolver: Resolver, timeoutMs: UInt64 = 20_000
    ) {
      recorder = StreamRecorder(occurrences)
      stream = ByteStream(loop: loop, delegate: recorder)
      stream.connect(
        to: .tcp(host: AddressTests.host, port: port), tls: tls, serverName: "localhost",
        timeoutMs: timeoutMs, resolver: resolver)
    }

    var isDecided: Bool { recorder.opened == 1 || !recorder.endings.isEmpty }
  }

  private static func resolver(_ addresses: [String]) -> Resolver {
    ScriptedNames([host: addresses]).resolver(threadsMax: 1)
  }

  @Test(
    "does not stay with one that accepts and is silent in the handshake, and does not begin with it again"
  )
  func silentInHandshake() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(
        loop: lane.loop, tls: certificates.serverContext(), occurrences: occurrences)
      let silent = try TestServer(
        loop: lane.loop, endpoint: .tcp(host: "127.0.0.2", port: server.port),
        occurrences: occurrences)
      let resolver = Self.resolver(["127.0.0.2", "127.0.0.1"])
      for round in 1...3 {
        let client = Client(
          lane.loop, occurrences, port: server.port, tls: try certificates.clientContext(),
          resolver: resolver)
        #expect(await occurrences.until { client.isDecided })
        #expect(client.recorder.opened == 1)
        #expect(silent.streams.count == 1, "in round \(round)")
        client.stream.close()
      }
    }
  }

  @Test("goes on after a handshake that failed, and still trusts nobody it should not")
  func failedHandshake() async throws {
    let certificates = try TestCertificates()
    let strangers = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let stranger = try TestServer(
        loop: lane.loop, tls: strangers.serverContext(), occurrences: occurrences)
      let context = try certificates.clientContext()
      let refused = Client(
        lane.loop, occurrences, port: stranger.port, tls: context,
        resolver: Self.resolver(["127.0.0.1", "127.0.0.2"]))
      #expect(await occurrences.until { refused.isDecided })
      #expect(refused.recorder.opened == 0)
      // Not that nobody listens at the other address: this is what somebody has to look at.
      #expect(refused.recorder.failure?.description.contains("certificate") == true)

      let server = try TestServer(
        loop: lane.loop, endpoint: .tcp(host: "127.0.0.2", port: stranger.port),
        tls: certificates.serverContext(), occurrences: occurrences)
      let client = Client(
        lane.loop, occurrences, port: server.port, tls: context,
        resolver: Self.resolver(["127.0.0.1", "127.0.0.2"]))
      #expect(await occurrences.until { client.isDecided })
      #expect(client.recorder.opened == 1)
      client.stream.close()
    }
  }

  @Test("gives a slow handshake more than one address's share of the time")
  func slowHandshake() async throws {
    let certificates = try TestCertificates()
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let context = try certificates.serverContext()
      var accepted: [ByteStream] = []
      var timers: [LoopTimer] = []
      let listener = try Listener(loop: lane.loop, endpoint: .tcp(host: "0.0.0.0", port: 0)) {
        let descriptor = $0
        let stream = ByteStream(loop: lane.loop, delegate: StreamRecorder(occurrences))
        let timer = LoopTimer(loop: lane.loop) {
          stream.adopt(descriptor: descriptor, tls: context)
        }
        timer.schedule(afterMs: 800)
        accepted.append(stream)
        timers.append(timer)
      }
      let client = Client(
        lane.loop, occurrences, port: listener.port, tls: try certificates.clientContext(),
        resolver: Self.resolver((1...16).map { "127.0.0.\($0)" }), timeoutMs: 8_000)
      #expect(await occurrences.until { client.isDecided })
      #expect(client.recorder.opened == 1)
      #expect(accepted.count < 8, "so many handshakes were begun")
      for timer in timers { timer.cancel() }
      for stream in accepted { stream.close() }
      client.stream.close()
      listener.close()
    }
  }

  @Test("passes over those from which nothing comes back, once")
  func deadAddresses() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      let dead = try (2...16).map { try FullListener(address: "127.0.0.\($0)", port: server.port) }
      let addresses = dead.map(\.address) + ["127.0.0.1"]
      let resolver = Self.resolver(addresses)
      let first = Client(
        lane.loop, occurrences, port: server.port, tls: nil, resolver: resolver)
      #expect(await occurrences.until { first.isDecided })
      #expect(first.recorder.opened == 1)
      first.stream.close()
      // The time would not do for another of them.
      let second = Client(
        lane.loop, occurrences, port: server.port, tls: nil, resolver: resolver,
        timeoutMs: 2 * ReactorLimits.attemptDelayMs)
      #expect(await occurrences.until { second.isDecided })
      #expect(second.recorder.opened == 1)
      second.stream.close()
      withExtendedLifetime(dead) {}
    }
  }

  @Test("names the look-up when that took the whole time")
  func silentNameServer() async throws {
    let names = ScriptedNames(silent: [Self.host])
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let client = Client(
        lane.loop, occurrences, port: 1, tls: nil, resolver: names.resolver(threadsMax: 1),
        timeoutMs: 50)
      #expect(await occurrences.until { client.isDecided })
      #expect(client.recorder.failure?.description.contains("cannot resolve \(Self.host)") == true)
      names.release(Self.host)
    }
  }

  @Test("takes the families in turn, and those that failed lately last")
  func order() throws {
    let history = AddressHistory()
    let all = try ["::1", "::2", "::3", "127.0.0.1", "127.0.0.2"].map { try Self.address($0) }
    let interleaved = [0, 3, 1, 4, 2].map { all[$0] }
    #expect(history.ordered(all, nowNs: 0) == interleaved)
    history.noteFailure(all[0], nowNs: 5)
    history.noteFailure(all[1], nowNs: 3)
    #expect(history.ordered(all, nowNs: 10) == [3, 4, 2, 1, 0].map { all[$0] })
    history.noteSuccess(all[0])
    #expect(history.ordered(all, nowNs: 10) == [0, 3, 4, 2, 1].map { all[$0] })
    let later = ReactorLimits.addressFailureMs * 1_000_000 + 10
    #expect(history.ordered(all, nowNs: later) == interleaved)
  }

  private static func address(_ text: String) throws -> SocketAddress {
    try #require(
      try SocketAddress.lookUp(host: text, port: 443, numericOnly: true).get().first)
  }
}
