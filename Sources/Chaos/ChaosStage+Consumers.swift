import Model
import Redis
import Store

extension ChaosStage {
  /// Entries in hand of each lane: consumer → chunks.
  func chunksInHand() async -> [String: Int] { await pending("chunks") }

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

  private static func field(_ name: String, in flat: [RESPValue]) -> RESPValue? {
    stride(from: 0, to: flat.count - 1, by: 2).first { flat[$0].string == name }
      .map { flat[$0 + 1] }
  }
}
