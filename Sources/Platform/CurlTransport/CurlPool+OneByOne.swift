internal import HTTP2
internal import Reactor

// A peer that speaks HTTP/1.1: each request has a connection to itself, and opens it if it must.
extension CurlPool {
  var connectionsMax: Int { loop.isFrugal ? 1 : settings.connectionsMax }

  /// How many requests more may be submitted to such a peer now.
  var roomOneByOne: Int { max(0, connectionsMax - inFlight) }

  /// The peer of single requests cannot be connected to any more: probes find out when it can be, with pauses between them, and
  /// what it speaks then.
  func lookAgain(_ reason: String) {
    defer { shortage = nil }
    isOneByOne = false
    reconnectTimer.schedule(afterMs: pause.next(afterFailure: shortage == nil))
    delegate.transport(
      self, connectionEnded: shortage.map { .failed(.system($0)) } ?? .reported(reason))
  }
}
