internal import CLinux

/// The events of a descriptor that epoll reports, and is asked to.
struct Readiness: OptionSet {
  let rawValue: UInt32

  static let readable = Readiness(rawValue: EPOLLIN.rawValue)
  static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
  /// The peer will send nothing more.
  static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
  static let hangUp = Readiness(rawValue: EPOLLHUP.rawValue)
  static let failed = Readiness(rawValue: EPOLLERR.rawValue)

  /// Asked for with the others: report each only when it sets in, not for as long as it lasts.
  static let edgeTriggered = Readiness(rawValue: EPOLLET.rawValue)

  /// A connection that nothing keeps from writing.
  static let input: Readiness = [.readable, .peerClosed, .edgeTriggered]
}

/// Something the loop calls when its descriptor becomes ready. Where it is edge-triggered, each call must use up
/// what is there, or ask the loop to call again.
protocol ReadinessHandler: AnyObject {
  func ready(_ readiness: Readiness)
}

/// Something that has output gathered for the end of the loop's turn.
package protocol Flushable: AnyObject {
  func flushNow()
}
