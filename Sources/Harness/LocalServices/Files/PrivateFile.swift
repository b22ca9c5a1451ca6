import Glibc

/// Files that only their owner may read: keys, certificates, configurations with passwords.
package enum PrivateFile {
  /// Creates or replaces a file of mode 0600.
  package static func write(_ bytes: [UInt8], to path: String) throws(LocalServiceError) {
    let file = try OpenDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC)
    guard fchmod(file.number, 0o600) == 0 else { throw .system("cannot protect \(path)") }
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(file.number, $0.baseAddress! + done, bytes.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system("cannot write \(path)") }
      done += count
    }
  }

  package static func write(_ text: String, to path: String) throws(LocalServiceError) {
    try write(Array(text.utf8), to: path)
  }
}
