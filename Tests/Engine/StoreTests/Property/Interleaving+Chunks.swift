import LocalServices
import Model
import Redis

@testable import Store

extension Interleaving {
  /// A lease that is over only for those who were silenced: longer than any test runs.
  static let leaseMs: UInt64 = 400_000_000
  private static let silentMs = "500000000"

  func claim() async throws {
    try await claim(anyConsumer(), max: 1 + random.below(3))
  }

  func claim(_ index: Int, max: Int) async throws {
    let name = consumers[index].name
    note("claim \(name) \(max)")
    let expected = model.claim(name, max: max)
    let found = try await store.chunks.claim(consumer: name, max: max)
    try receive(index, found, expected, "claim")
    try await learnLetters()
  }

  func reclaim() async throws {
    // Often one that was frozen and still believes in what is another's by now: it gets it back.
    let zombies = consumers.indices.filter { index in
      consumers[index].runs.contains { run in
        let leases = model.chunks[run.chunk.priority]!.leases
        return leases.contains {
          $0.entry == run.claim.entry && $0.owner != consumers[index].name
        }
      }
    }
    let isZombie = !zombies.isEmpty && random.chance(percent: 50)
    try await reclaim(
      isZombie ? random.pick(zombies)! : anyConsumer(), max: 1 + random.below(3),
      any: random.chance(percent: isZombie ? 70 : 20))
  }

  func reclaim(_ index: Int, max: Int, any: Bool) async throws {
    let name = consumers[index].name
    note("reclaim \(name) \(max) \(any ? "any" : "abandoned")")
    if !any { try await endLeases() }
    let expected = model.reclaim(name, max: max, any: any)
    let found = try await store.chunks.reclaim(
      consumer: name, leaseMs: any ? 0 : Self.leaseMs, max: max)
    try receive(index, found, expected, "reclaim")
    try await learnLetters()
  }

  /// Ages the leases of those who were silenced.
  func endLeases() async throws {
    for name in silent {
      for priority in Priority.allCases {
        for lease in model.chunks[priority]!.leases where lease.owner == name {
          try await age(store.keys.chunks(priority), lease.entry, name)
        }
        for lease in model.entries[priority]!.leases where lease.owner == name {
          try await age(store.keys.jobs(priority), lease.entry, name)
        }
        model.chunks[priority]!.end(leasesOf: name)
        model.entries[priority]!.end(leasesOf: name)
      }
    }
    silent = []
  }

  private func age(_ stream: String, _ entry: String, _ owner: String) async throws {
    _ = try await store.redis(
      "XCLAIM", stream, "workers", owner, "0", entry, "IDLE", Self.silentMs, "JUSTID")
  }

  private func receive(
    _ index: Int, _ found: [ChunkClaim], _ expected: [StoreModel.Lease], _ what: String
  ) throws {
    try expectSame(
      found.map { "\($0.job) \($0.segment) \($0.source) \($0.crashes)" },
      expected.map { "\($0.item.job) \($0.item.segment) \($0.item.source) \($0.item.crashes)" },
      what)
    for (claim, lease) in zip(found, expected) {
      if !lease.entry.isEmpty { try expectSame(claim.entry, lease.entry, "the entry of a \(what)") }
      model.chunks[claim.priority]!.learn(claim.entry, lease.number)
      let segment = model.segments[lease.item.place]!
      let run = ModelRun(claim)
      try expectSame(run.recipients, segment.recipients, "the recipients of a \(what)")
      try expectSame(claim.done, segment.done, "what is done of a \(what)")
      // Another may have had it in between, and have left other devices open: then the one that carries it stops.
      consumers[index].runs.removeAll {
        $0.claim.entry == claim.entry && $0.claim.priority == claim.priority
          && $0.recipients != run.recipients
      }
      // What is carried already goes on as it is.
      let isCarried = consumers[index].runs.contains {
        $0.claim.entry == claim.entry && $0.claim.priority == claim.priority
      }
      if !isCarried { consumers[index].runs.append(run) }
    }
  }

  func heartbeat() async throws {
    let index = anyConsumer()
    let name = consumers[index].name
    let runs = consumers[index].runs
    guard !runs.isEmpty else { return }
    note("heartbeat \(name) \(runs.map(\.claim.entry))")
    let expected = runs.map { model.heartbeat($0, name) }
    let found = try await store.chunks.heartbeat(runs.map(\.claim), consumer: name)
    try expectSame(found, expected, "heartbeat")
    try await beatJobs(index)
    // One that learns of its loss mostly stops, sometimes what it sent before is still under way.
    for (run, standing) in zip(runs.indices, found).reversed() where standing == .stale {
      if random.chance(percent: 70) { consumers[index].runs.remove(at: run) }
    }
  }

  private func beatJobs(_ index: Int) async throws {
    let name = consumers[index].name
    let entries = consumers[index].entries.map(\.entry)
    guard !entries.isEmpty else { return }
    let expected = entries.map { entry -> WorkStanding in
      guard let lease = model.entries[entry.priority]!.lease(entry.entry, of: name) else {
        return .stale
      }
      model.entries[entry.priority]!.renew(lease.number)
      return .ok
    }
    let found = try await store.jobs.heartbeat(entries, consumer: name)
    try expectSame(found, expected, "heartbeat of jobs")
  }

  func handBack() async throws {
    guard let (consumer, index) = anyRun() else { return }
    let name = consumers[consumer].name
    let run = consumers[consumer].runs.remove(at: index)
    let isLater = random.chance(percent: 30)
    note("hand_back \(name) \(run.claim.entry) \(run.claim.job) \(isLater ? "later" : "")")
    let expected = model.handBack(run, isLater: isLater, name)
    let found = try await store.chunks.handBack(
      [run.claim], consumer: name, delayMs: isLater ? ModelReport.laterMs : 0)
    try expectSame(found, expected, "hand_back")
  }

  func bury() async throws {
    guard let (consumer, index) = anyRun() else { return }
    let name = consumers[consumer].name
    let run = consumers[consumer].runs.remove(at: index)
    note("bury \(name) \(run.claim.entry) \(run.claim.job)")
    let expected = model.bury(run, reason: "content_missing", name)
    let found = try await store.chunks.bury(
      run.claim, reason: "content_missing", message: "Gone", consumer: name)
    try expectSame(found, expected, "bury")
    try await learnLetters()
  }

  func hurry() async throws {
    note("hurry")
    let members = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1").array ?? []
    for member in members {
      _ = try await store.redis("ZADD", store.keys.delayed, "XX", "1", member.string ?? "")
    }
    for id in model.jobs.filter({ $0.value.startsLater }).map(\.key).sorted() {
      _ = try await store.redis("HSET", store.keys.job(app: Self.app, id: id), "start_at", "1")
    }
    model.hurry()
  }

  func promote() async throws {
    try await promote(max: random.chance(percent: 50) ? 10_000 : 1 + random.below(3))
  }

  /// With a small `max` some of what is due is put in line only.
  func promote(max: Int) async throws {
    note("promote \(max)")
    let before = model.chunks.mapValues(\.waiting.count)
    let found = try await store.chunks.promote(max: max)
    let members = try await store.redis("ZRANGE", store.keys.delayed, "0", "-1").array ?? []
    let left = Set(try members.map { try Self.chunk(member: $0.string ?? "") })
    let expected = model.promote(max: max, left: left)
    try expectSame(found.taken, expected.expected, "promote")
    try expectSame(expected.taken, expected.expected, "what promote took")
    try expectSame(found.nextDueMs != nil, expected.areMore, "what promote leaves")
    for priority in Priority.allCases {
      let waiting = model.chunks[priority]!.waiting.map(\.item)
      let added = Array(waiting[before[priority]!...])
      guard added.count > 1 else { continue }
      // What falls due together comes in an order of its own.
      let entries = try await store.redis(
        "XREVRANGE", store.keys.chunks(priority), "+", "-", "COUNT", String(added.count))
      let order = (entries.array ?? []).reversed().map { Self.chunk($0, priority) }
      try expectSame(Set(order), Set(added), "what was promoted")
      model.chunks[priority]!.reorder(last: order)
    }
  }

  /// A chunk as the delayed set has it.
  private static func chunk(member: String) throws -> ModelChunk {
    let values = try JSONParser().parse(Array(member.utf8)).arrayValue ?? []
    guard values.count == 7 else { throw Mismatch(what: "\(member) is no chunk") }
    let texts = values.map { $0.stringValue ?? "" }
    return ModelChunk(
      job: texts[2], segment: texts[3], source: texts[4],
      priority: Priority(rawValue: texts[0]) ?? .normal,
      lines: ChunkLines(rawValue: texts[5]) ?? .users,
      crashes: values[6].int64Value.map { Int($0) } ?? -1)
  }

  private static func chunk(_ entry: RESPValue, _ priority: Priority) -> ModelChunk {
    let fields = Dictionary(entry.array?[1].pairs ?? [], uniquingKeysWith: { $1 })
    return ModelChunk(
      job: fields["job"] ?? "", segment: fields["segment"] ?? "", source: fields["source"] ?? "",
      priority: priority, lines: ChunkLines(rawValue: fields["lines"] ?? "") ?? .users,
      crashes: Int(fields["crashes"] ?? "") ?? -1)
  }
}
