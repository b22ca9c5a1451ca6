import Redis
import Model
import TestSupport
import Testing

@testable import Store
@testable import Worker

@Suite struct BindingResolverTests {
  /// A run of a job to these users, which the lane has not admitted itself.
  private func run(_ parts: LaneStage, _ job: String) async throws -> PushRun {
    try await parts.takeIn(job)
    let claim = try #require(
      try await parts.store.chunks.claim(consumer: "test-0", max: 1).first)
    let tracer = Tracer(
      loop: parts.loop, store: parts.store.traces, by: "other", clock: parts.settings.shared.clock)
    let materials = MaterialStore(store: parts.store, tracer: tracer)
    guard case .material(let material) = try await materials.find(claim) else { throw Missing() }
    let run = PushRun(claim, material, slot: 0, loop: parts.loop)
    parts.runs.add(run)
    return run
  }

  private struct Missing: Error {}

  private static func job(_ audience: String, _ more: String = "") -> String {
    """
    {"id":"sale","app":"shop","audience":\(audience),"notification":{"title":"Hi"}\(more)}
    """
  }

  @Test("users become pushes to all their devices that the job is for, and queue where these go")
  func resolvesUsers() async throws {
    try await LaneStage.with { _, parts in
      try await parts.install("a", "token-a1")
      try await parts.install("a", "token-a2")
      try await parts.install("c", "token-c", .development)
      let run = try await run(
        parts, Self.job(#"{"users":["a","b","c"]}"#, #","environments":["production"]"#))
      try await parts.resolver.resolveNext(run)
      #expect(
        Set(run.pushes.map { String(decoding: $0.token, as: UTF8.self) }) == [
          "token-a1", "token-a2",
        ])
      #expect(run.pushes.allSatisfy { $0.target.number == 0 && $0.attempt == 1 })
      #expect(parts.sending.destinations[0]?.queued == 2)
      #expect(run.isResolved && run.openRecipients == 1)
      #expect(run.takeNews(isFinal: false).noInstallations == 2)
    }
  }

  @Test("the bindings of more tokens are read than commands may wait for Redis at a time")
  func readsMany() async throws {
    try await LaneStage.with { _, parts in
      try await parts.install("a", "token-a")
      let arena = ByteArena()
      let tokens = (0..<2 * RedisLimits.pendingCommandsMax).map { number in
        arena.copy(number % 3_000 == 7 ? "token-a" : "none-\(number)")
      }
      let found = try await parts.resolver.bindings(
        app: "shop", of: tokens.map { (network: .apns, token: $0) })
      #expect(found.count == tokens.count)
      #expect(found.indices.filter { found[$0] != nil } == found.indices.filter { $0 % 3_000 == 7 })
      withExtendedLifetime(arena) {}
    }
  }

  @Test("an installation whose token is somebody else's by now gets nothing")
  func resolvesInstallations() async throws {
    try await LaneStage.with { _, parts in
      let tokens = (0..<3).map { String(repeating: "\($0)a", count: 32) }
      for token in tokens.prefix(2) { try await parts.install("a", token) }
      let list = tokens.map { #"{"network":"apns","token":"\#($0)"}"# }.joined(separator: ",")
      let run = try await run(parts, Self.job(#"{"installations":[\#(list)]}"#))
      try await parts.resolver.resolveNext(run)
      #expect(run.pushes.map { String(decoding: $0.user, as: UTF8.self) } == ["a", "a"])
      #expect(run.takeNews(isFinal: false).counts[.apns]?.skipped == 1)
    }
  }

  @Test("a token whose record is damaged is nobody's, and those read with it are sent to")
  func passesOverDamage() async throws {
    try await LaneStage.with { _, parts in
      let tokens = (0..<4).map { String(repeating: "\($0)a", count: 32) }
      for token in tokens { try await parts.install("a", token) }
      func key(_ number: Int) -> String { "{pp}:token:apns:shop:\(tokens[number])" }
      _ = try await parts.redis("HSET", key(0), "generation", "many")
      _ = try await parts.redis("HDEL", key(1), "updated_at")
      _ = try await parts.redis("DEL", key(2))
      _ = try await parts.redis("SET", key(2), "something else")
      let list = tokens.map { #"{"network":"apns","token":"\#($0)"}"# }.joined(separator: ",")
      let run = try await run(parts, Self.job(#"{"installations":[\#(list)]}"#))
      try await parts.resolver.resolveNext(run)
      #expect(run.pushes.map { String(decoding: $0.token, as: UTF8.self) } == [tokens[3]])
      #expect(run.takeNews(isFinal: false).counts[.apns]?.skipped == 3)
      // As before a push that has waited for long.
      _ = try await parts.redis("HSET", key(3), "environment", "elsewhere")
      try await parts.resolver.verify(run, [0])
      #expect(run.openPushes == 0)
    }
  }

  private static let raising = #"""
    {"id":"sale","app":"shop","audience":{"users":["a","b"]},"notification":{"title":"Hi","badge":"+1"}}
    """#

  @Test("of a chunk that is paused nothing becomes a push, so that what it gave stays its own")
  func pausedWhileReading() async throws {
    try await LaneStage.with { _, parts in
      try await parts.install("a", "token-a")
      let run = try await run(parts, Self.raising)
      run.change(to: .paused)
      try await parts.resolver.resolveNext(run)
      #expect(run.pushes.isEmpty && run.cursor == 0 && run.openRecipients == 2)
      let badge = try await parts.redis("HGET", "{pp}:token:apns:shop:token-a", "badge")
      #expect(badge.isNull)
    }
  }

  @Test("a chunk that became another worker's while it was read is left to that one")
  func takenOverWhileReading() async throws {
    try await LaneStage.with { _, parts in
      try await parts.install("a", "token-a")
      let run = try await run(parts, Self.raising)
      _ = try await parts.redis(
        "XCLAIM", "{pp}:chunks:normal", "workers", "other", "0", run.claim.entry)
      try await parts.resolver.resolveNext(run)
      #expect(run.pushes.isEmpty && run.standing == .stale)
      let badge = try await parts.redis("HGET", "{pp}:token:apns:shop:token-a", "badge")
      #expect(badge.isNull)
    }
  }

  @Test(
    "users of many devices are resolved a few at a time where each push is made for its receiver")
  func boundsPersonalBatches() async throws {
    try await LaneStage.with { _, parts in
      let run = try await run(parts, Self.raising)
      let material = run.material
      #expect(material.receivers.batch == WorkerLimits.resolveBatchMax)
      material.receivers.noteBatch(users: 64, bindings: 64, bytes: 64 * 30)
      #expect(material.receivers.batch == WorkerLimits.personalBatchMax)
      material.receivers.noteBatch(users: 256, bindings: 2_560, bytes: 0)
      #expect(material.receivers.batch == 51)
      material.receivers.noteBatch(users: 51, bindings: 5_100, bytes: 0)
      #expect(material.receivers.batch == WorkerLimits.personalBatchMin)
      material.receivers.noteBatch(users: 8, bindings: 8, bytes: 8 * Limits.userVariablesBytesMax)
      #expect(material.receivers.batch == 16)
    }
  }

  @Test("whom the filter leaves out is skipped, and neither queued nor given a badge")
  func leavesOut() async throws {
    try await LaneStage.with { _, parts in
      for (number, plan) in ["pro", "free", nil].enumerated() {
        var installation = Installation(
          app: "shop", user: "a", token: DeviceToken(stored: "token-\(number)", network: .apns))
        installation.custom["plan"] = plan
        _ = try await parts.store.installations.install(installation)
      }
      let run = try await run(
        parts,
        #"{"id":"sale","app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi","badge":"+1"},"filter":{"custom":{"plan":["pro"]}}}"#
      )
      try await parts.resolver.resolveNext(run)
      #expect(run.pushes.map(\.decision) == [.open, .skipped, .skipped])
      #expect(run.pushes.map(\.badge) == [1, 0, 0])
      #expect(parts.sending.destinations[0]?.queued == 1)
      for (number, badge) in ["1", nil, nil].enumerated() {
        let kept = try await parts.redis("HGET", "{pp}:token:apns:shop:token-\(number)", "badge")
        #expect(kept.string == badge)
      }
      let trace = try #require(run.material.trace?.take(nowNs: 0, isLast: true))
      let causes = trace.lines.withUnsafeBytes { bytes in
        SegmentLines(bytes).map { TraceEvent($0)?.cause }
      }
      #expect(causes == [.filtered, .filtered])
    }
  }

  @Test("the trace tells a token that is not installed from one that the job is not for")
  func tellsWhatIsNotInstalled() async throws {
    try await LaneStage.with { _, parts in
      let tokens = (0..<2).map { String(repeating: "\($0)a", count: 32) }
      try await parts.install("a", tokens[0], .development)
      let list = tokens.map { #"{"network":"apns","token":"\#($0)"}"# }.joined(separator: ",")
      let run = try await run(
        parts,
        Self.job(
          #"{"installations":[\#(list)]}"#, #","environments":["production"],"trace":true"#))
      try await parts.resolver.resolveNext(run)
      let trace = try #require(run.material.trace?.take(nowNs: 0, isLast: true))
      let causes = trace.lines.withUnsafeBytes { bytes in
        SegmentLines(bytes).map { TraceEvent($0)?.cause }
      }
      #expect(causes == [.notBound, .notInstalled])
    }
  }

  @Test("a binding that is read again still holds, or its push is skipped")
  func verifies() async throws {
    try await LaneStage.with { _, parts in
      try await parts.install("a", "token-1")
      try await parts.install("a", "token-2")
      let run = try await run(parts, Self.job(#"{"users":["a"]}"#))
      try await parts.resolver.resolveNext(run)
      for push in run.pushes.indices { run.confirmBinding(push, generation: 0, atNs: 0) }
      try await parts.install("b", "token-1")
      try await parts.resolver.verify(run, Array(run.pushes.indices))
      let rebound = try #require(
        run.pushes.first { String(decoding: $0.token, as: UTF8.self) == "token-1" })
      let kept = try #require(
        run.pushes.first { String(decoding: $0.token, as: UTF8.self) == "token-2" })
      #expect(rebound.decision == .skipped)
      #expect(kept.decision == .open && kept.generation > 0 && kept.boundNs > 0)
    }
  }

  @Test("recipients whose reading failed are resolved later, and take no room meanwhile")
  func givesBack() async throws {
    try await LaneStage.with { _, parts in
      let run = try await run(parts, Self.job(#"{"users":["a","b"]}"#))
      parts.store.connection.close()
      for _ in 0..<WorkerLimits.queuedPushesMax {
        #expect(await failure { try await parts.resolver.resolveNext(run) } != nil)
      }
      #expect(run.cursor == 0 && run.openRecipients == 2 && parts.sending.room.hasRoom(for: .low))
    }
  }
}
