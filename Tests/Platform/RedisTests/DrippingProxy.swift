import Reactor

/// Stands between a client and a server and hands the server's bytes on one by one, each in a turn of its own.
final class DrippingProxy {
  private let loop: EventLoop
  private var listener: Listener!
  private var downstream: TestStream?
  private var upstream: TestStream?
  private var waiting: [UInt8] = []
  private var sent = 0
  private var timer: LoopTimer!

  init(loop: EventLoop, server: Endpoint) throws {
    self.loop = loop
    timer = LoopTimer(loop: loop) { [unowned self] in drip() }
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      let client = TestStream(loop: loop)
      let behind = TestStream(loop: loop)
      client.onRead = { behind.write(Array($0)) }
      behind.onRead = { [unowned self] bytes in
        waiting.append(contentsOf: bytes)
        drip()
      }
      behind.stream.connect(to: server, tls: nil, timeoutMs: 20_000)
      client.stream.adopt(descriptor: descriptor, tls: nil)
      downstream = client
      upstream = behind
    }
  }

  var endpoint: Endpoint { .tcp(host: "127.0.0.1", port: listener.port) }

  private func drip() {
    guard sent < waiting.count, !timer.isArmed else { return }
    downstream?.write([waiting[sent]])
    sent += 1
    timer.schedule(afterMs: 0)
  }

  func close() {
    timer.cancel()
    listener.close()
    downstream?.stream.close()
    upstream?.stream.close()
  }
}
