import Reactor
import TestSupport

/// Stands between a client and a server, passes bytes on as they are, and holds the server's back when it is told to;
/// loop-bound.
final class HoldingRelay {
  private let loop: EventLoop
  private let occurrences: Occurrences
  private let serverPort: UInt16
  private var server: TestServer!
  private var behind: ByteStream?
  private(set) var held: [UInt8] = []
  var isHolding = false

  init(loop: EventLoop, occurrences: Occurrences, serverPort: UInt16) throws {
    self.loop = loop
    self.occurrences = occurrences
    self.serverPort = serverPort
    server = try TestServer(loop: loop, occurrences: occurrences) { [unowned self] in prepare($0) }
  }

  var port: UInt16 { server.port }

  private func prepare(_ front: StreamRecorder) {
    let recorder = StreamRecorder(occurrences)
    recorder.onRead = { [unowned self] _, bytes in
      held.append(contentsOf: bytes)
      if !isHolding { release(held.count) }
    }
    let behind = ByteStream(loop: loop, delegate: recorder)
    self.behind = behind
    behind.connect(to: .tcp(host: "127.0.0.1", port: serverPort), tls: nil, timeoutMs: 20_000)
    front.onRead = { _, bytes in
      _ = behind.write(bytes)
      behind.requestFlush()
    }
  }

  /// Passes on so much of what is held, in one write.
  func release(_ count: Int) {
    guard let front = server.streams.first else { return }
    _ = held[..<count].withUnsafeBytes { front.write($0) }
    held.removeFirst(count)
    front.requestFlush()
  }

  func close() { behind?.close() }
}
