import Glibc

/// Text files: of /proc, reports, plots.
enum TextFile {
  /// Nil when it cannot be read; cut off at `bytesMax`.
  static func read(_ path: String, bytesMax: Int = BenchLimits.textBytesMax) -> String? {
    readBytes(path, bytesMax: bytesMax).map { String(decoding: $0, as: UTF8.self) }
  }

  static func readBytes(_ path: String, bytesMax: Int) -> [UInt8]? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count < bytesMax {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  /// Creates or replaces a file that everyone may read.
  static func write(_ text: String, to path: String) throws(BenchError) {
    guard let file = fopen(path, "we") else {
      throw BenchError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
    let bytes = Array(text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count else {
      throw BenchError("cannot write all of \(path)")
    }
  }
}
