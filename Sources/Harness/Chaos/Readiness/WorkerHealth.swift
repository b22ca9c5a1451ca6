import Glibc

/// A worker's health file, as a probe reads it.
struct WorkerHealth: Sendable, Equatable {
  private static let readyLine = Array("ready\n".utf8)

  let isReady: Bool
  /// In epoch milliseconds.
  let writtenMs: Int64

  /// Nil while there is none.
  init?(file path: String) {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    // Of the same file that is read: another one may have its place by now.
    var information = stat()
    guard fstat(fileno(file), &information) == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.readyLine.count)
    let count = fread(&bytes, 1, bytes.count, file)
    isReady = count == bytes.count && bytes == Self.readyLine
    let written = information.st_mtim
    writtenMs = Int64(written.tv_sec) * 1_000 + Int64(written.tv_nsec) / 1_000_000
  }
}
