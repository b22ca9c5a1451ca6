import Reactor

/// The connections of a ``FaultProxy`` and the fault that is on; loop-bound.
final class ProxySwitchboard {
  let loop: EventLoop
  let server: Endpoint
  private(set) var fault = FaultProxy.Fault.none
  var dice: SeededDice
  var breaks = 0
  var requestBytes = 0
  private var listener: Listener!
  private var dueTimer: ExactTimer!
  private var pairs: [ObjectIdentifier: ProxyPair] = [:]

  init(loop: EventLoop, server: Endpoint, seed: UInt64) throws {
    self.loop = loop
    self.server = server
    dice = SeededDice(seed: seed)
    dueTimer = try ExactTimer(loop: loop) { [unowned self] in
      for pair in Array(pairs.values) { pair.pump() }
    }
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      let pair = ProxyPair(self)
      pairs[ObjectIdentifier(pair)] = pair
      pair.begin(descriptor: descriptor)
    }
  }

  var port: UInt16 { listener.port }
  var count: Int { pairs.count }

  func set(_ fault: FaultProxy.Fault) {
    self.fault = fault
    for pair in Array(pairs.values) { pair.faultChanged() }
  }

  /// Has everything that is due by then passed on then.
  func pump(atNs: UInt64) { dueTimer.schedule(atNs: atNs) }

  func cut() {
    for pair in Array(pairs.values) { pair.breakOff() }
  }

  func forget(_ pair: ProxyPair) { pairs[ObjectIdentifier(pair)] = nil }

  func close() {
    listener.close()
    dueTimer.stop()
    for pair in Array(pairs.values) { pair.end() }
  }
}
