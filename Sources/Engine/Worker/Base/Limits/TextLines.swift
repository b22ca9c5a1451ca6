internal import Glibc

/// Reads the small files in which the kernel tells things (proc(5)).
enum TextLines {
  private static let linesMax = 256

  /// The first lines of a file; none when it cannot be read.
  static func read(_ path: String) -> [String] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var lines: [String] = []
    var line = [CChar](repeating: 0, count: 4_096)
    while lines.count < linesMax, fgets(&line, CInt(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      lines.append(String(decoding: bytes, as: UTF8.self))
    }
    return lines
  }
}
