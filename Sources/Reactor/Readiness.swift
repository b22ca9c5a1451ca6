internal import CLinux

/// What epoll reported of a descriptor.
struct Readiness: OptionSet {
  let rawValue: UInt32

  static let readable = Readiness(rawValue: EPOLLIN.rawValue)
  static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
  /// The peer will send nothing more.
  static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
  static let hangUp = Readiness(rawValue: EPOLLHUP.rawValue)
  static let failed = Readiness(rawValue: EPOLLERR.rawValue)

  static let any: Readiness = [.readable, .writable, .peerClosed]
}

/// Something the loop calls when its descriptor becomes ready. Edge-triggered: each call must use up
/// what is there, or ask the loop to call again.
protocol ReadinessHandler: AnyObject {
  func ready(_ readiness: Readiness)
}

/// Something that has output gathered for the end of the loop's turn.
package protocol Flushable: AnyObject {
  func flushNow()
}
