import Glibc
import LocalServices

/// What the kernel says of a process that runs (proc(5)).
struct ProcessFacts: Sendable {
  var residentBytesMax: Int
  var residentBytes: Int
  var descriptors: Int

  /// Nil when it has ended.
  init?(pid: CInt) {
    guard
      let status = TextFile.read(
        "/proc/\(pid)/status", bytesMax: ChaosLimits.textBytesMax),
      let peak = Self.kibibytes("VmHWM:", in: status),
      let now = Self.kibibytes("VmRSS:", in: status)
    else { return nil }
    residentBytesMax = peak * 1_024
    residentBytes = now * 1_024
    descriptors = Self.entries(of: "/proc/\(pid)/fd")
  }

  private static func kibibytes(_ name: String, in status: String) -> Int? {
    for line in status.split(separator: "\n") where line.hasPrefix(name) {
      return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap { Int($0) }
    }
    return nil
  }

  private static func entries(of folder: String) -> Int {
    guard let stream = opendir(folder) else { return 0 }
    defer { closedir(stream) }
    var count = 0
    while let entry = readdir(stream) {
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
  }
}
