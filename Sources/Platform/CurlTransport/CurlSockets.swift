import CCurl
import Reactor

/// The sockets of libcurl, watched on a lane's loop for whatever it waits for; loop-bound.
final class CurlSockets {
  let loop: EventLoop
  private let connections: CurlConnections
  /// The sockets that libcurl has open, those of connections that are being opened included.
  private var open: Set<CInt> = []
  private var watches: [CInt: DescriptorWatch] = [:]
  /// The events that libcurl waits for, by descriptor.
  private var wishes: [CInt: DescriptorWatch.Wish] = [:]
  /// Whether libcurl is kept from hearing that a socket can be written to.
  private(set) var isResting = false
  /// Anything that moved: requests begun and ended, bytes of bodies and headers, sockets opened and closed.
  private(set) var movements = 0
  /// Why libcurl got no socket, when no file descriptor was left.
  private(set) var shortage: SystemError?
  /// Called when libcurl is to look at a socket, with the events of `CURL_CSELECT_…`.
  var onReady: (_ descriptor: CInt, _ events: CInt) -> Void = { _, _ in }
  /// Called when the peer has ended a connection that libcurl does not look at.
  var onLost: () -> Void = {}

  init(loop: EventLoop, connections: CurlConnections) {
    self.loop = loop
    self.connections = connections
  }

  deinit { stop() }

  /// Watches none of them any more.
  func stop() {
    for watch in watches.values { watch.stop() }
    watches.removeAll()
    wishes.removeAll()
  }

  func noteMovement() { movements += 1 }

  /// The one that is bound to this port; -1 when there is none.
  func bound(to port: UInt16) -> CInt { open.first { Listener.boundPort($0) == port } ?? -1 }

  // MARK: Opened and closed

  func opened(_ descriptor: CInt) {
    open.insert(descriptor)
    movements += 1
  }

  /// libcurl was given no socket.
  func failed(_ error: SystemError) {
    guard error.isOutOfDescriptors else { return }
    shortage = error
    loop.onOutOfDescriptors?(error)
  }

  func forgetShortage() { shortage = nil }

  /// To be called before it is closed.
  func closes(_ descriptor: CInt) {
    movements += 1
    forget(descriptor)
    open.remove(descriptor)
    connections.closed(descriptor)
  }

  // MARK: Watched

  /// libcurl waits for something else than before.
  /// - Parameter what: a constant of `CURL_POLL_…`.
  func watch(_ descriptor: CInt, for what: CInt) {
    var wish: DescriptorWatch.Wish = []
    switch what {
    case CURL_POLL_IN: wish = .read
    case CURL_POLL_OUT: wish = .write
    case CURL_POLL_INOUT: wish = [.read, .write]
    default: return lookAway(from: descriptor)
    }
    wishes[descriptor] = wish
    if let known = watches[descriptor] { return known.change(to: granted(wish)) }
    watches[descriptor] = try? DescriptorWatch(loop: loop, descriptor: descriptor, for: wish) {
      [unowned self] ready in
      guard !ready.isEmpty else { return lost(descriptor) }
      var events: CInt = 0
      if ready.contains(.read) { events |= CURL_CSELECT_IN }
      if ready.contains(.write) { events |= CURL_CSELECT_OUT }
      onReady(descriptor, events)
    }
  }

  /// Begins or ends a rest, in which libcurl hears of nothing but what can be read.
  func rest(_ isResting: Bool) {
    self.isResting = isResting
    for (descriptor, wish) in wishes { watches[descriptor]?.change(to: granted(wish)) }
  }

  /// Returns what of a wish is heeded now. One to write alone is that of a socket which is being connected.
  private func granted(_ wish: DescriptorWatch.Wish) -> DescriptorWatch.Wish {
    isResting && wish.contains(.read) ? .read : wish
  }

  /// libcurl looks away from a connection that it keeps, and would not see it end.
  private func lookAway(from descriptor: CInt) {
    wishes[descriptor] = nil
    if connections.keeps(descriptor) {
      watches[descriptor]?.change(to: [])
    } else {
      forget(descriptor)
    }
  }

  /// The peer ended an idle connection; libcurl drops it when it looks for one.
  private func lost(_ descriptor: CInt) {
    forget(descriptor)
    connections.lost(descriptor)
    onLost()
  }

  private func forget(_ descriptor: CInt) {
    wishes[descriptor] = nil
    watches.removeValue(forKey: descriptor)?.stop()
  }
}
