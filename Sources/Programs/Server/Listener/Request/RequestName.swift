internal import Synchronization

/// The names of requests, by which people find them in a log.
enum RequestName {
  private static let beginning = String(UInt32.random(in: 0...UInt32.max), radix: 36)
  private static let number = Atomic<UInt64>(0)

  /// Another one each time, also among several servers.
  static func next() -> String {
    let (_, own) = number.wrappingAdd(1, ordering: .relaxed)
    return "\(beginning)-\(String(own, radix: 36))"
  }
}
