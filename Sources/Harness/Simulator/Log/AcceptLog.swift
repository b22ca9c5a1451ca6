internal import Glibc
internal import Model

/// The append-only file of accepted pushes: one line each, written before the answer goes out.
///
/// A line is `epoch_ms network token topic connection stream body_hash`, separated by spaces, the
/// hash in hex. Lines are gathered for a turn of the loop and written at its end; the file has them
/// when the answers leave, so that a crash of the client cannot hide an accept.
final class AcceptLog {
  private let descriptor: CInt
  private let buffer = UnsafeMutableRawBufferPointer.allocate(
    byteCount: SimulatorLimits.acceptLogBufferBytes, alignment: 1)
  private var length = 0

  /// - Parameter path: appended to; created, readable by its owner only, when it is missing.
  init(path: String) throws(SimulatorError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw SimulatorError(
        .unavailable,
        "cannot write the accept log \(path): \(String(cString: strerror(errno)))")
    }
  }

  deinit {
    buffer.deallocate()
    if descriptor >= 0 { close(descriptor) }
  }

  /// - Returns: false when the buffer had to be written and could not be.
  func append(
    _ token: UnsafeRawBufferPointer, of push: Acceptance, connection: Int, stream: Int32,
    nowMs: Int64
  ) -> Bool {
    let needed = token.count + push.topic.count + SimulatorLimits.acceptLineOverheadBytes
    let isWritten = length + needed <= buffer.count || write()
    var line = LineWriter(target: buffer.baseAddress! + length)
    line.put(nowMs)
    line.put(" ")
    line.put(push.network.rawValue)
    line.put(" ")
    line.put(token)
    line.put(" ")
    line.put(push.topic)
    line.put(" ")
    line.put(Int64(connection))
    line.put(" ")
    line.put(Int64(stream))
    line.put(" ")
    line.putHex(push.bodyHash)
    line.put("\n")
    length += line.length
    return isWritten
  }

  /// Writes what was gathered.
  /// - Returns: false when the file does not take it, a full disk say; the lines are lost then.
  func write() -> Bool {
    defer { length = 0 }
    var written = 0
    while written < length {
      let count = Glibc.write(descriptor, buffer.baseAddress! + written, length - written)
      if count > 0 {
        written += count
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}

/// The accepted part of a request, while that lives: the buffers point into it.
struct Acceptance {
  let network: Network
  let token: UnsafeRawBufferPointer
  let topic: UnsafeRawBufferPointer
  let bodyHash: UInt64
  /// The other tokens of a request to several; each is a push.
  var otherTokens: [UnsafeRawBufferPointer] = []
}
