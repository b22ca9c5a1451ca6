import Glibc
import LocalServices
import Reactor
import Testing
import TestSupport

@Suite("A listener")
struct ListenerTests {
  @Test("on port 0 has a port of its own, and refuses connections once closed")
  func freePort() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let one = try TestServer(loop: lane.loop, occurrences: occurrences)
      let other = try TestServer(loop: lane.loop, occurrences: occurrences)
      #expect(one.port != 0 && other.port != 0 && one.port != other.port)
      one.listener.close()
      one.listener.close()
      let client = StreamRecorder(occurrences)
      let stream = ByteStream(loop: lane.loop, delegate: client)
      stream.connect(to: .tcp(host: "127.0.0.1", port: one.port), tls: nil, timeoutMs: 20_000)
      #expect(await occurrences.until { !client.endings.isEmpty })
      #expect(client.failure?.description.contains("refused") == true)
    }
  }

  @Test("accepts many connections that arrive at once")
  func burst() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      let clients = (0..<200).map { _ in StreamRecorder(occurrences) }
      let streams = clients.map { ByteStream(loop: lane.loop, delegate: $0) }
      for stream in streams {
        stream.connect(to: .tcp(host: "127.0.0.1", port: server.port), tls: nil, timeoutMs: 20_000)
      }
      #expect(
        await occurrences.until {
          server.streams.count == 200 && clients.allSatisfy { $0.opened == 1 }
        })
      for stream in streams { stream.close() }
      #expect(await occurrences.until { server.recorders.allSatisfy { $0.endings == [nil] } })
    }
  }

  @Test("says what it cannot listen on")
  func cannotListen() async throws {
    try await TestLane.run { lane in
      let occurrences = Occurrences(loop: lane.loop)
      let server = try TestServer(loop: lane.loop, occurrences: occurrences)
      for endpoint in [
        Endpoint.tcp(host: "127.0.0.1", port: server.port), .tcp(host: "not an address", port: 0),
        .unix(path: "/nonexistent/a.sock"),
      ] {
        let error = #expect(throws: SystemError.self) {
          _ = try Listener(loop: lane.loop, endpoint: endpoint) { _ in }
        }
        #expect(error?.description.contains("\(endpoint)") == true)
      }
    }
  }
}
