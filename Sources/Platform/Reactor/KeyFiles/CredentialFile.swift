internal import Glibc

/// Reads the small files that hold secrets.
package enum CredentialFile {
  /// The whole content of a regular file that is neither empty nor longer than `bytesMax`.
  package static func read(
    _ path: String, bytesMax: Int = ReactorLimits.keyFileBytesMax
  ) throws(CredentialFileError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw CredentialFileError(
        file: path, problem: "cannot be opened: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw CredentialFileError(file: path, problem: "is not a regular file")
    }
    var content = [UInt8](repeating: 0, count: bytesMax + 1)
    var count = 0
    while count <= bytesMax {
      let more = content.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      guard more >= 0 else {
        throw CredentialFileError(
          file: path, problem: "cannot be read: \(String(cString: strerror(errno)))")
      }
      if more == 0 { break }
      count += more
    }
    guard count <= bytesMax else {
      throw CredentialFileError(
        file: path, problem: "is longer than \(bytesMax) bytes; is it the right file?")
    }
    guard count > 0 else { throw CredentialFileError(file: path, problem: "is empty") }
    return Array(content[..<count])
  }
}

/// A key, account or password file that cannot be used. It names the file and the problem, never the content.
package struct CredentialFileError: Error, Equatable, CustomStringConvertible {
  package let file: String
  /// The rest of a sentence that begins with the file's name.
  package let problem: String

  package init(file: String, problem: String) {
    self.file = file
    self.problem = problem
  }

  package var description: String { "\(file) \(problem)" }
}
