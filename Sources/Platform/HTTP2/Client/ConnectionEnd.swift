package import Reactor

/// Why a client connection ended.
package enum ConnectionEnd: Equatable, CustomStringConvertible {
  /// The connection could not be opened, or broke.
  case failed(StreamFailure)
  /// The server said GOAWAY; its debug data often carries a reason.
  case goAway(errorCode: UInt32, debugData: String)
  /// The peer closed without GOAWAY.
  case closedByPeer
  /// No answer to a PING, or no SETTINGS after connecting.
  case silent
  /// The peer broke the protocol.
  case protocolViolation(String)
  /// In the words of the library that carries it.
  case reported(String)
  /// We closed it.
  case closed

  /// Whether it could not be opened because no file descriptor is left.
  package var isOutOfDescriptors: Bool {
    if case .failed(.system(let error)) = self { error.isOutOfDescriptors } else { false }
  }

  /// Whether the server said that it would end it, and complained of nothing.
  var isFarewell: Bool {
    if case .goAway(errorCode: 0, _) = self { true } else { false }
  }

  /// Whether the server ended it, and complained of nothing.
  var isOfServersOwnAccord: Bool {
    switch self {
    case .closedByPeer, .goAway(errorCode: 0, _), .failed(.system), .failed(.truncated): true
    case .failed, .goAway, .silent, .protocolViolation, .reported, .closed: false
    }
  }

  /// Whether it broke, without a word on what was processed.
  var isBreak: Bool {
    switch self {
    case .closedByPeer, .failed(.system), .failed(.truncated), .silent: true
    case .failed, .goAway, .protocolViolation, .reported, .closed: false
    }
  }

  package var description: String {
    switch self {
    case .failed(let failure): failure.description
    case .goAway(let code, let data): "GOAWAY \(code)" + (data.isEmpty ? "" : ": \(data)")
    case .closedByPeer: "closed by the peer"
    case .silent: "the peer went silent"
    case .protocolViolation(let reason): "HTTP/2 violation: \(reason)"
    case .reported(let reason): reason
    case .closed: "closed"
    }
  }
}
