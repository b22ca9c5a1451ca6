import Model
import Redis
import Testing

@testable import Store

extension ShardStore {
  /// The users of an index, as its blocks hold them in order. Sees that the blocks are sound, and the size told is theirs.
  func members(of index: AudienceIndex, app: String = "shop") async throws -> [String] {
    let bounds = try await redis("ZRANGE", keys.index(index, app: app), "0", "-1").array ?? []
    var members: [String] = []
    for bound in bounds.compactMap(\.string) {
      let key = keys.block(bound, of: index, app: app)
      let block = (try await redis("ZRANGE", key, "0", "-1").array ?? []).compactMap(\.string)
      #expect(!block.isEmpty || bound.isEmpty && bounds.count > 1, "an empty block is left")
      #expect(block.count <= StoreLimits.indexBlockMax)
      if let first = block.first, let last = members.last {
        #expect(last.isBefore(bound) && !first.isBefore(bound))
      }
      members += block
    }
    let size = try await redis("HGET", keys.audiences(app: app), index.name)
    #expect(Int(size.string ?? "0") == members.count, "\(index) tells another size")
    return members
  }

  func subscribe(_ users: [String], to topic: String = "news") async throws {
    for first in stride(from: 0, to: users.count, by: StoreLimits.subscriptionsMax) {
      let some = users[first..<min(first + StoreLimits.subscriptionsMax, users.count)]
      _ = try await audiences.subscribe(some.map { .init(app: "shop", topic: topic, user: $0) })
    }
  }

  func unsubscribe(_ users: [String], from topic: String = "news") async throws {
    for first in stride(from: 0, to: users.count, by: StoreLimits.subscriptionsMax) {
      let some = users[first..<min(first + StoreLimits.subscriptionsMax, users.count)]
      _ = try await audiences.unsubscribe(some.map { .init(app: "shop", topic: topic, user: $0) })
    }
  }

  @discardableResult
  func admit(
    _ id: String, to index: AudienceIndex, window: Int = 256, startAtMs: Int64? = nil
  ) async throws -> AdmissionAnswer {
    let entry = try await takeNew()
    let admission = Admission(
      app: "shop", id: id, digest: "digest", content: Array("{}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: 0, segments: 0, window: window, index: index),
      timing: Admission.Timing(startAtMs: startAtMs))
    return try await jobs.admit(entry, admission, consumer: "worker")
  }

  /// Commands that the server has carried out, those inside functions included.
  func commandCount(beginningWith start: String = "") async throws -> Int {
    let stats = try await redis("INFO", "commandstats").string ?? ""
    return stats.split(whereSeparator: \.isNewline).reduce(0) { sum, line in
      let calls = line.split(separator: "calls=").last?.prefix { $0.isNumber }
      return sum + (line.hasPrefix("cmdstat_\(start)") ? calls.flatMap { Int($0) } ?? 0 : 0)
    }
  }
}

extension String {
  /// In the order of Redis: by bytes.
  func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
