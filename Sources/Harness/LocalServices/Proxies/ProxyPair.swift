import Reactor

/// One client's connection through a ``FaultProxy``, and the one to the server behind it; loop-bound.
final class ProxyPair {
  unowned let switchboard: ProxySwitchboard
  private var requests: ProxyFlow!
  private var replies: ProxyFlow!
  private var client: ProxySide!
  private var server: ProxySide?
  /// Something that was sent on it is lost: it must not go on.
  private var isTainted = false
  /// A part of something has passed and the reset is about to follow: nothing passes any more. A connection
  /// that goes on behind a hole is what no network makes of one.
  private var isBreaking = false
  private var isEnded = false
  /// Reads until the drawn one, while the fault is one that waits for it.
  private var readsLeft = 0

  init(_ switchboard: ProxySwitchboard) {
    self.switchboard = switchboard
    client = ProxySide(loop: switchboard.loop)
    requests = ProxyFlow(self)
    replies = ProxyFlow(self)
    replies.target = client
    requests.source = client
    client.onRead = { [unowned self] in take($0, isReply: false) }
    client.onRoom = { [unowned self] in replies.pump() }
    client.onClose = { [unowned self] in end() }
    draw()
  }

  var fault: FaultProxy.Fault { switchboard.fault }
  var loop: EventLoop { switchboard.loop }

  func isServer(_ side: ProxySide) -> Bool { side === server }

  /// Takes over an accepted socket.
  func begin(descriptor: CInt) {
    client.stream.adopt(descriptor: descriptor, tls: nil)
    switch fault {
    case .refuse: return breakOff()
    case .blackhole, .halfOpen: isTainted = true
    default: connect()
    }
  }

  private func connect() {
    let server = ProxySide(loop: loop)
    self.server = server
    requests.target = server
    replies.source = server
    server.onRead = { [unowned self] in take($0, isReply: true) }
    server.onRoom = { [unowned self] in requests.pump() }
    server.onClose = { [unowned self] in serverClosed() }
    server.stream.connect(to: switchboard.server, tls: nil, timeoutMs: 5_000)
  }

  // MARK: Faults

  func faultChanged() {
    draw()
    switch fault {
    case .blackhole: return
    case .halfOpen:
      isTainted = true
      dropServer()
    default:
      if isTainted { return breakOff() }
      pump()
    }
  }

  /// Passes on what may pass now, either way.
  func pump() {
    requests.pump()
    replies.pump()
  }

  private func draw() {
    switch fault {
    case .resetMidReply(let range), .resetMidRequest(let range), .dropReply(let range):
      readsLeft = switchboard.dice.pick(range)
    default: readsLeft = 0
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer, isReply: Bool) {
    if !isReply { switchboard.requestBytes += bytes.count }
    guard !isBreaking else { return }
    let flow: ProxyFlow = isReply ? replies : requests
    switch fault {
    case .blackhole, .halfOpen: isTainted = true
    case .resetMidReply where isReply, .resetMidRequest where !isReply:
      guard isDrawn() else { return flow.take(bytes) }
      isBreaking = true
      let part = switchboard.dice.pick(0...(bytes.count - 1))
      flow.take(UnsafeRawBufferPointer(rebasing: bytes[..<part]))
      // What passed must reach the other side before the reset overtakes it; the pair may end before that.
      flow.onSent = { [weak self] in self?.breakOff() }
      flow.pump()
    case .dropReply where isReply:
      guard isDrawn() else { return flow.take(bytes) }
      switchboard.breaks += 1
      end()
    default: flow.take(bytes)
    }
  }

  private func isDrawn() -> Bool {
    readsLeft -= 1
    return readsLeft == 0
  }

  /// Resets both sides.
  func breakOff() {
    guard !isEnded else { return }
    switchboard.breaks += 1
    client.stream.abort()
    server?.stream.abort()
    end()
  }

  private func dropServer() {
    let dropped = server
    server = nil
    dropped?.onClose = nil
    dropped?.stream.abort()
    requests.target = nil
  }

  private func serverClosed() {
    // Half-open: the client is not told.
    if server != nil { end() }
  }

  /// Closes both sides in order, once.
  func end() {
    guard !isEnded else { return }
    isEnded = true
    requests.close()
    replies.close()
    client.stream.close()
    server?.stream.close()
    switchboard.forget(self)
  }
}
