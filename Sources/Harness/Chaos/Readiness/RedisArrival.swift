import LocalServices
import Model

/// A worker's word in its log that it is connected to a server of this machine. It has one lane, so that the last one holds.
struct RedisArrival: Sendable, Equatable {
  private static let message = "connected to Redis"

  let port: UInt16
  /// In epoch milliseconds.
  let atMs: Int64

  init(port: UInt16, atMs: Int64) {
    self.port = port
    self.atMs = atMs
  }

  /// Nil for any other line.
  init?(logLine line: Substring) {
    guard line.contains(Self.message),
      let members = try? JSONParser().parse(String(line)).objectValue,
      members["message"]?.stringValue == Self.message,
      let time = members["time"]?.stringValue, let atMs = RFC3339.milliseconds(time),
      let server = members["server"]?.stringValue,
      let port = server.split(separator: ":").last.flatMap({ UInt16($0) })
    else { return nil }
    self.init(port: port, atMs: atMs)
  }

  /// Returns those of a worker's log, in its order.
  static func all(inLog file: String) -> [RedisArrival] {
    (TextFile.read(file, bytesMax: ChaosLimits.textBytesMax) ?? "").split(separator: "\n")
      .compactMap { RedisArrival(logLine: $0) }
  }
}
