import Model
import Redis
import Store

extension ChaosStage {
  /// Entries of a kind of stream (`chunks`, `jobs`) that consumers have claimed and not finished.
  func pending(_ kind: String) async -> [String: Int] {
    var sums: [String: Int] = [:]
    for priority in Priority.allCases {
      let stream = "pushpool:\(kind):\(priority.rawValue)"
      guard
        let reply = try? await session.command("XINFO", "CONSUMERS", stream, "workers"),
        let consumers = reply.array
      else { continue }
      for consumer in consumers {
        let flat = consumer.array ?? []
        guard let name = Self.field("name", in: flat)?.string,
          let count = Self.field("pending", in: flat)?.integer
        else { continue }
        sums[name, default: 0] += count
      }
    }
    return sums
  }

  /// The entries that are in hand: stream and entry → consumer.
  func owners() async -> [String: String] {
    var owners: [String: String] = [:]
    for kind in ["chunks", "jobs"] {
      for priority in Priority.allCases {
        let stream = "pushpool:\(kind):\(priority.rawValue)"
        guard
          let reply = try? await session.command(
            "XPENDING", stream, "workers", "-", "+", String(Self.entriesMax))
        else { continue }
        for item in reply.array ?? [] {
          guard let parts = item.array, parts.count > 1, let entry = parts[0].string else {
            continue
          }
          owners["\(stream) \(entry)"] = parts[1].string
        }
      }
    }
    return owners
  }

  /// More than a stage's workers can have in hand.
  private static let entriesMax = 10_000

  private static func field(_ name: String, in flat: [RESPValue]) -> RESPValue? {
    stride(from: 0, to: flat.count - 1, by: 2).first { flat[$0].string == name }
      .map { flat[$0 + 1] }
  }
}
