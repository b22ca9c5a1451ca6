/// HTTP/2 error codes (RFC 9113, 7) that the tests send.
enum ErrorCode {
  static let none: UInt32 = 0
  static let protocolError: UInt32 = 1
  static let internalError: UInt32 = 2
  static let refusedStream: UInt32 = 7
}
