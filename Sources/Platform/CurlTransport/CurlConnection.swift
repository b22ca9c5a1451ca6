import Glibc

/// One of libcurl's connections as far as the pool knows it: libcurl chooses among them and names none, so they are
/// told apart by the port at our end.
final class CurlConnection {
  let port: UInt16
  /// -1 when it was not found.
  let socket: CInt
  let openedNs: UInt64
  var inFlight = 0
  var answered = 0
  /// Whether an answer has shown that it serves.
  var isProven = false
  /// Whether it was a probe's that libcurl ends with it: its end says nothing.
  var isPassing = false
  /// When it last answered something, or was opened.
  var heardNs: UInt64
  /// The error of the last request that went wrong on it.
  var trouble: String?
  /// Nothing may be sent on it any more.
  private(set) var isCut = false

  init(port: UInt16, socket: CInt, nowNs: UInt64) {
    self.port = port
    self.socket = socket
    openedNs = nowNs
    heardNs = nowNs
  }

  /// Ends it below libcurl, which finds it closed and drops it.
  func cut(because reason: String) {
    guard !isCut else { return }
    isCut = true
    trouble = reason
    if socket >= 0 { shutdown(socket, CInt(SHUT_RDWR)) }
  }
}
