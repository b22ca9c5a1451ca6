import LocalServices
import Reactor
import Synchronization

/// A server that sends back what it gets, behind a fault proxy.
final class EchoStage: Sendable {
  let proxy: FaultProxy
  /// What reached the server.
  let server: StreamTape
  private let loop: EventLoop
  private let clients = Mutex<[StreamTape]>([])

  static func with(_ body: (EchoStage) async throws -> Void) async throws {
    let stage = try EchoStage()
    do {
      try await body(stage)
      await stage.close()
    } catch {
      await stage.close()
      throw error
    }
  }

  private init() throws {
    let loop = try EventLoop(name: "echo")
    self.loop = loop
    let server = StreamTape(loop: loop)
    self.server = server
    let listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      server.adopt(descriptor: $0, echoes: true)
    }
    proxy = try FaultProxy(server: .tcp(host: "127.0.0.1", port: listener.port), seed: 42)
    try loop.start()
  }

  /// A connection to the proxy; it opens in its own time.
  func connect() throws -> StreamTape {
    let tape = StreamTape(loop: loop)
    tape.connect(to: .tcp(host: "127.0.0.1", port: proxy.port))
    clients.withLock { $0.append(tape) }
    return tape
  }

  /// Returns when so many bytes of clients have come to the proxy.
  func proxyHas(read count: Int) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(20)
    while await proxy.requestBytes < count {
      guard clock.now < deadline else { throw StreamTape.NothingCame() }
      try await clock.sleep(until: clock.now + .milliseconds(2))
    }
  }

  private func close() async {
    await proxy.close()
    loop.stop()
    loop.join()
  }
}
