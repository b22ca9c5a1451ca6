internal import Glibc

/// Reads small files whole.
package enum BoundedFile {
  /// The content of a file with a key, an account or a secret.
  static func key(_ path: String) throws(SimulatorError) -> [UInt8] {
    try read(path, bytesMax: SimulatorLimits.keyFileBytesMax)
  }

  /// - Throws: when the file cannot be read or is larger than the limit.
  package static func read(_ path: String, bytesMax: Int) throws(SimulatorError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw SimulatorError(
        .configuration, "cannot read \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
    var length = 0
    while length < bytes.count {
      let offset = length
      let count = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress! + offset, $0.count - offset)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        throw SimulatorError(
          .configuration, "cannot read \(path): \(String(cString: strerror(errno)))")
      }
      if count == 0 { break }
      length += count
    }
    guard length <= bytesMax else {
      throw SimulatorError(
        .configuration, "\(path) is larger than \(bytesMax) bytes: give the right file")
    }
    return Array(bytes[..<length])
  }
}
