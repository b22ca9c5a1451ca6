import Glibc

/// Text files: of /proc, logs, reports, plots.
package enum TextFile {
  /// Nil when it cannot be read; cut off at `bytesMax`, or little behind it.
  package static func read(_ path: String, bytesMax: Int) -> String? {
    bytes(path, bytesMax: bytesMax).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads the bytes as `read` does, whatever they are.
  package static func bytes(_ path: String, bytesMax: Int) -> [UInt8]? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count < bytesMax {
      let count = fread(&block, 1, block.count, file)
      guard count > 0 else { break }
      bytes += block[..<count]
    }
    return bytes
  }

  /// Creates or replaces a file that everyone may read.
  package static func write(_ text: String, to path: String) throws(LocalServiceError) {
    guard let file = fopen(path, "we") else { throw .system("cannot write \(path)") }
    let bytes = Array(text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count else {
      throw LocalServiceError("cannot write all of \(path)")
    }
  }
}
