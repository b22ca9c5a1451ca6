import Model
import Reactor
import Store
import Testing

@testable import Redis
@testable import Store
@testable import Worker

/// Claimed chunks as the store hands them out, without a store.
enum Claims {
  static func claim(
    _ recipients: [String], lines: ChunkLines = .users, done: [UInt8] = [],
    segment: String = "1", priority: Priority = .normal, source: String = "n1-0",
    job: String = "sale", digest: String = "d"
  ) throws -> ChunkClaim {
    let text = recipients.map { "\($0)\n" }.joined()
    let parts: [[UInt8]] =
      [
        priority.rawValue, "1-0", "shop", job, segment, source, "0", "0", lines.rawValue,
      ]
      .map { Array($0.utf8) } + [done, Array(text.utf8), Array(digest.utf8)]
    var wire = Array("*\(parts.count)\r\n".utf8)
    for part in parts {
      wire += Array("$\(part.count)\r\n".utf8) + part + Array("\r\n".utf8)
    }
    let reader = ReplyReader()
    try wire.withUnsafeBytes { try reader.feed($0) }
    var claim: Result<ChunkClaim, RedisError>?
    _ = try reader.next { reply in
      claim = Result { () throws(RedisError) in try ChunkClaim(reply) }
    }
    return try #require(claim).get()
  }

  static func run(
    _ recipients: [String], lines: ChunkLines = .users, done: [UInt8] = [],
    segment: String = "1", trace: JobTrace? = nil, content: JobContent = JobContent(),
    material: JobMaterial? = nil, slot: Int = 0, priority: Priority = .normal, job: String = "sale"
  ) throws -> PushRun {
    PushRun(
      try claim(
        recipients, lines: lines, done: done, segment: segment, priority: priority, job: job),
      material ?? JobMaterial(content: content, createdAtMs: 0, trace: trace), slot: slot,
      loop: try EventLoop(name: "test"))
  }
}

extension RunTable {
  /// Puts a run of a chunk into its place.
  func add(_ run: PushRun) { add(ChunkRun(run)) }
}

extension PushRun {
  /// Adds a recipient with so many devices; their pushes' numbers.
  func resolve(_ recipient: Int, devices: Int, network: Network = .apns) -> [Int] {
    beginRecipient(recipient)
    let pushes = (0..<devices).map { device in
      add(
        Push(
          token: arena.copy("token-\(recipient)-\(device)"), user: lines[recipient],
          generation: UInt64(recipient), recipient: Int32(recipient), network: network,
          environment: .production, attempt: 1, target: PushTarget(to: 0), boundNs: 0))
    }
    endRecipient(recipient)
    return pushes
  }

  var residualLines: [(delayMs: UInt64, text: String)] {
    takeNews(isFinal: false).residuals.map {
      ($0.delayMs, String(decoding: $0.lines, as: UTF8.self))
    }
  }
}
