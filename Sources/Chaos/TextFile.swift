import Glibc

/// Small text files, of /proc or a worker's log.
enum TextFile {
  /// Nil when it cannot be read.
  static func read(_ path: String) -> String? {
    bytes(path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// As `read`, whatever the bytes are.
  static func bytes(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < ChaosLimits.textBytesMax {
      let count = fread(&block, 1, block.count, file)
      guard count > 0 else { break }
      bytes += block[..<count]
    }
    return bytes
  }
}
