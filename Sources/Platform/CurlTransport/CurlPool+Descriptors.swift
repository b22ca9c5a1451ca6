import CCurl
import Reactor

// What libcurl waits for, on the lane's loop.
extension CurlPool {
  func watch(_ descriptor: CInt, for what: CInt) {
    var wish: DescriptorWatch.Wish = []
    switch what {
    case CURL_POLL_IN: wish = .read
    case CURL_POLL_OUT: wish = .write
    case CURL_POLL_INOUT: wish = [.read, .write]
    default: return rest(descriptor)
    }
    wishes[descriptor] = wish
    if let known = watches[descriptor] { return known.change(to: granted(wish)) }
    watches[descriptor] = try? DescriptorWatch(loop: loop, descriptor: descriptor, for: wish) {
      [unowned self] ready in
      guard !ready.isEmpty else { return lost(descriptor) }
      var events: CInt = 0
      if ready.contains(.read) { events |= CURL_CSELECT_IN }
      if ready.contains(.write) { events |= CURL_CSELECT_OUT }
      drive(descriptor, events)
    }
  }

  /// Returns what of a wish is heeded now. One to write alone is that of a socket which is being connected.
  private func granted(_ wish: DescriptorWatch.Wish) -> DescriptorWatch.Wish {
    isResting && wish.contains(.read) ? .read : wish
  }

  /// Has libcurl wait when it is called and called without anything that moves.
  func note(hasMoved: Bool) {
    fruitless = hasMoved ? 0 : fruitless + 1
    guard fruitless >= CurlLimits.fruitlessMax, !isResting, !isClosed else { return }
    isResting = true
    grantWishes()
    restTimer.schedule(afterMs: CurlLimits.restMs)
  }

  func endRest() {
    isResting = false
    // One call tells whether it was of use.
    fruitless = CurlLimits.fruitlessMax - 1
    grantWishes()
  }

  private func grantWishes() {
    for (descriptor, wish) in wishes { watches[descriptor]?.change(to: granted(wish)) }
  }

  /// libcurl looks away from a connection that it keeps, and would not see it end.
  private func rest(_ descriptor: CInt) {
    wishes[descriptor] = nil
    let isKept = connections.contains { $0.socket == descriptor && !$0.isCut }
    if isKept { watches[descriptor]?.change(to: []) } else { forget(descriptor) }
  }

  /// The peer ended an idle connection; libcurl drops it when it looks for one.
  private func lost(_ descriptor: CInt) {
    forget(descriptor)
    connections.first { $0.socket == descriptor }?.cut(because: "closed by the peer")
    openMissing()
  }

  func forget(_ descriptor: CInt) {
    wishes[descriptor] = nil
    watches.removeValue(forKey: descriptor)?.stop()
  }

  func setTimeout(ms: Int) {
    guard ms >= 0 else { return timer.cancel() }
    timer.schedule(afterMs: isResting ? max(UInt64(ms), CurlLimits.restMs) : UInt64(ms))
  }
}
