internal import Glibc
internal import Model

/// The append-only file of accepted pushes: one line each, written before the answer goes out.
///
/// A line is `epoch_ms network token topic connection stream body_hash`, separated by spaces, the
/// hash in hex. Lines are gathered for a turn of the loop and written at its end; the file has them
/// when the answers leave, so that a crash of the client cannot hide an accept.
final class AcceptLog {
  private let descriptor: CInt
  private var buffer: [UInt8] = []

  /// - Parameter path: appended to; created, readable by its owner only, when it is missing.
  init(path: String) throws(SimulatorError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw SimulatorError(
        .unavailable,
        "cannot write the accept log \(path): \(String(cString: strerror(errno)))")
    }
    buffer.reserveCapacity(SimulatorLimits.acceptLogBufferBytes)
  }

  deinit { close(descriptor) }

  /// - Returns: false when the buffer had to be written and could not be.
  func append(
    _ push: Acceptance, connection: Int, stream: Int32, nowMs: Int64
  ) -> Bool {
    append(nowMs)
    switch push.network {
    case .apns: append(" apns ")
    case .fcm: append(" fcm ")
    case .jpush: append(" jpush ")
    }
    buffer.append(contentsOf: push.token)
    buffer.append(0x20)
    buffer.append(contentsOf: push.topic)
    buffer.append(0x20)
    append(Int64(connection))
    buffer.append(0x20)
    append(Int64(stream))
    buffer.append(0x20)
    appendHex(push.bodyHash)
    buffer.append(0x0a)
    return buffer.count < SimulatorLimits.acceptLogBufferBytes || write()
  }

  /// Writes what was gathered.
  /// - Returns: false when the file does not take it, a full disk say; the lines are lost then.
  func write() -> Bool {
    guard !buffer.isEmpty else { return true }
    defer { buffer.removeAll(keepingCapacity: true) }
    return buffer.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count > 0 {
          written += count
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }

  private func append(_ text: StaticString) {
    buffer.append(
      contentsOf: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func append(_ number: Int64) {
    buffer.appendDecimal(number)
  }

  private func appendHex(_ number: UInt64) {
    let digits: StaticString = "0123456789abcdef"
    for shift in stride(from: 60, through: 0, by: -4) {
      buffer.append(digits.utf8Start[Int(truncatingIfNeeded: number >> UInt64(shift) & 15)])
    }
  }
}
