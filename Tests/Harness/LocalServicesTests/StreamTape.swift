import Reactor
import Synchronization
import Testing

/// A stream, or all streams of a server, and what came over them, to be used from any thread.
final class StreamTape: Sendable {
  struct NothingCame: Error {}

  private struct State {
    var bytes: [UInt8] = []
    var reads = 0
    var ends = 0
  }

  private let loop: EventLoop
  private let state = Mutex(State())
  private let player = Mutex<Player?>(nil)

  init(loop: EventLoop) {
    self.loop = loop
  }

  var bytes: [UInt8] { state.withLock { $0.bytes } }
  var reads: Int { state.withLock { $0.reads } }
  /// How often a connection ended; nil while none has.
  var end: Int? { state.withLock { $0.ends > 0 ? $0.ends : nil } }

  func connect(to endpoint: Endpoint) {
    loop.execute { [self] in
      let player = Player(loop: loop, tape: self, echoes: false)
      self.player.withLock { $0 = player }
      player.stream.connect(to: endpoint, tls: nil, timeoutMs: 20_000)
    }
  }

  /// On the loop only.
  func adopt(descriptor: CInt, echoes: Bool) {
    Player(loop: loop, tape: self, echoes: echoes).stream.adopt(descriptor: descriptor, tls: nil)
  }

  func send(_ bytes: [UInt8]) {
    loop.execute { [self] in player.withLock { $0 }?.write(bytes) }
  }

  /// All that came, once it is so much.
  func received(_ count: Int) async throws -> [UInt8] {
    try await waitUntil { $0.bytes.count >= count }
    return bytes
  }

  func ended() async throws { try await waitUntil { $0.ends > 0 } }

  private func waitUntil(_ isSo: (borrowing State) -> Bool) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(20)
    while !state.withLock({ isSo($0) }) {
      guard clock.now < deadline else { throw NothingCame() }
      try await clock.sleep(until: clock.now + .milliseconds(2))
    }
  }

  fileprivate func take(_ bytes: UnsafeRawBufferPointer) {
    state.withLock {
      $0.bytes += bytes
      $0.reads += 1
    }
  }

  fileprivate func noteEnd() { state.withLock { $0.ends += 1 } }
}

/// The loop's side of a tape; loop-bound, although a tape keeps it.
private final class Player: ByteStreamDelegate, @unchecked Sendable {
  private(set) var stream: ByteStream!
  private let tape: StreamTape
  private let echoes: Bool
  private var waiting: [UInt8] = []

  init(loop: EventLoop, tape: StreamTape, echoes: Bool) {
    self.tape = tape
    self.echoes = echoes
    stream = ByteStream(loop: loop, delegate: self)
  }

  func write(_ bytes: [UInt8]) {
    waiting += bytes
    pump(stream)
  }

  private func pump(_ stream: ByteStream) {
    guard stream.isOpen else { return }
    let count = min(waiting.count, stream.outputRoom)
    guard count > 0 else { return }
    _ = waiting.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    waiting.removeFirst(count)
    stream.requestFlush()
  }

  func streamDidOpen(_ stream: ByteStream) { pump(stream) }

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    tape.take(bytes)
    if echoes { write(Array(bytes)) }
  }

  func streamFillsOutput(_ stream: ByteStream) { pump(stream) }

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) { tape.noteEnd() }
}
