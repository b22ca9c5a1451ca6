import LocalServices
import Model
import Redis

@testable import Store

extension Interleaving {
  // MARK: Dead letters

  func operateLetters() async throws {
    guard let letter = random.pick(model.letters) else { return }
    if random.chance(percent: 30) {
      note("dead_drop \(letter.entry)")
      let expected = model.drop(letter)
      try expectSame(try await store.deadLetters.drop(letter.entry), expected, "dead_drop")
    } else {
      note("dead_retry \(letter.entry) \(letter.reason) \(letter.text) \(letter.chunk?.job ?? "")")
      let expected = model.retry(letter)
      var answer = try await store.deadLetters.retry(letter.entry)
      if case .retried(.some) = answer { answer = .retried(entry: StoreModel.anyEntry) }
      try expectSame(answer, expected, "dead_retry")
    }
  }

  /// Reads the entries of letters that the model foresaw.
  func learnLetters() async throws {
    guard let first = model.letters.firstIndex(where: { $0.entry.isEmpty }) else { return }
    let last = first > 0 ? model.letters[first - 1].entry : nil
    let found = try await store.deadLetters.list(after: last, max: 100)
    for (index, letter) in zip(model.letters.indices[first...], found) {
      let expected = model.letters[index]
      try expectSame(letter.reason, expected.reason, "the reason of a dead letter")
      try expectSame(letter.id, expected.chunk?.job ?? letter.id, "the job of a dead letter")
      if expected.chunk != nil {
        try expectSame(letter.count, expected.segment.open.count, "the count of a dead letter")
      }
      model.letters[index].entry = letter.entry
    }
  }

  // MARK: Everything

  func compareEverything() async throws {
    for user in Self.users { try await compareUser(user) }
    for token in Self.tokens { try await compareToken(token) }
    let bound = Self.users.filter { !(model.devices[$0] ?? []).isEmpty }
    try expectSame(
      try await store.members(of: .all, app: Self.app), bound.sorted(), "the index of all")
    for channel in Self.channels {
      let users = Set(
        model.bindings.values.filter { $0.channels.contains(channel) }.map(\.user))
      try expectSame(
        try await store.members(of: .channel(channel), app: Self.app), users.sorted(),
        "the index of the channel \(channel)")
    }
    for id in model.jobs.keys.sorted() { try await compareJob(id) }
    for priority in Priority.allCases {
      try await compareStream(
        store.keys.chunks(priority), model.chunks[priority]!.count,
        model.chunks[priority]!.leases.count)
      try await compareStream(
        store.keys.jobs(priority), model.entries[priority]!.count + (isBesideLarge ? 1 : 0),
        model.entries[priority]!.leases.count)
    }
    try expectSame(
      try await count("ZCARD", store.keys.delayed), model.delayed.count, "delayed chunks")
    try expectSame(try await count("XLEN", store.keys.dead), model.letters.count, "dead letters")
    let open = model.jobs.values.count { $0.isAdmitted && !$0.isFinished }
    try expectSame(try await count("SCARD", store.keys.open), open, "open jobs")
    try await compareNotices(store.keys.uninstalled, model.uninstalled)
    try await compareNotices(store.keys.audit, model.overwritten + model.evicted)
    try await compareNotices(store.keys.finished, model.finished)
    try await compareSegments()
    try await compareTotals()
  }

  /// What has been counted in all is what the minutes add up to, and none of it is ever less.
  private func compareTotals() async throws {
    var sums: [String: Int] = [:]
    for key in try await keys(":metrics:") {
      for (name, count) in try await store.redis("HGETALL", key).pairs {
        sums[name, default: 0] += Int(count) ?? 0
      }
    }
    let fields = try await store.redis("HGETALL", store.keys.totals).pairs
    let totals = Dictionary(
      fields.filter { $0.0.contains("|") }.map { ($0.0, Int($0.1) ?? -1) },
      uniquingKeysWith: { $1 })
    try expectSame(totals, sums, "the totals")
    for (name, count) in totalsBefore where totals[name, default: 0] < count {
      throw Mismatch(what: "the total of \(name) fell from \(count)")
    }
    totalsBefore = totals
  }

  /// A user's lines are exactly the tokens that are the user's.
  private func compareUser(_ user: String) async throws {
    let reply = try await store.redis("GET", store.keys.user(app: Self.app, user: user))
    let lines = (reply.string ?? "").split(separator: "\n").map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    let expected = (model.devices[user] ?? []).map { token in
      [token.network.rawValue, String(model.bindings[token]!.generation), token.text]
    }
    try expectSame(lines.map { [$0[0], $0[2], $0[4]] }, expected, "the lines of \(user)")
  }

  private func compareToken(_ token: DeviceToken) async throws {
    let key = store.keys.token(token.network, app: Self.app, token: token.text)
    let fields = Dictionary(try await store.redis("HGETALL", key).pairs, uniquingKeysWith: { $1 })
    guard let expected = model.bindings[token] else {
      return try expectSame(fields, [:], "the record of \(token.text)")
    }
    try expectSame(fields["user"], expected.user, "the owner of \(token.text)")
    try expectSame(fields["generation"], String(expected.generation), "the generation")
    try expectSame(fields["object_id"], expected.objectID, "the object id of \(token.text)")
    let updated = Int64(fields["updated_at"] ?? "") ?? -1
    try expectSame(
      updated > 1_000_000 ? ModelBinding.now : updated, expected.updatedAtMs, "updated_at")
  }

  func compareJob(_ id: String) async throws {
    let expected = model.jobs[id]!
    let found = try await store.jobs.record(app: Self.app, id: id)
    try expectSame(found?.state, expected.state, "the state of \(id)")
    guard let found, expected.isAdmitted else { return }
    try expectSame(found.isBalanced, true, "the balance of \(id)")
    try expectSame(found.pending, expected.open.count, "pending of \(id)")
    try expectSame(found.total, expected.total, "total of \(id)")
    try expectSame(found.counts, expected.counts, "the counts of \(id)")
    let key = store.keys.job(app: Self.app, id: id)
    let mayBeRetried = expected.counts.failed > 0
    if !expected.isFinished || mayBeRetried {
      let content = store.keys.content(app: Self.app, id: id)
      try expectSame(try await count("EXISTS", content), 1, "the content of \(id)")
    }
    guard !expected.isFinished || mayBeRetried else {
      let fields = try await store.redis("HKEYS", key).array ?? []
      return try expectSame(
        Set(fields.compactMap(\.string)).intersection(["cursor", "segments", "window", "lines"]),
        [],
        "what is left of \(id)")
    }
    let more = try await store.redis("HMGET", key, "chunks", "live", "cursor", "discrepancy")
    try expectSame(
      more.array?.map { $0.integer ?? 0 }, [expected.chunks, expected.live, expected.cursor, 0],
      "chunks, live, cursor and discrepancy of \(id)")
    try expectSame(
      try await count("HLEN", store.keys.unfinished(expected.source)), expected.chunks,
      "the unfinished chunks of \(id)")
  }

  private func compareStream(_ stream: String, _ length: Int, _ pending: Int) async throws {
    try expectSame(try await count("XLEN", stream), length, "the length of \(stream)")
    guard length > 0 else { return }
    let groups = try await store.redis("XINFO", "GROUPS", stream).array?.first?.array ?? []
    let at = groups.firstIndex { $0.string == "pending" }
    let found = at.flatMap { groups[$0 + 1].integer } ?? 0
    try expectSame(found, pending, "the leases of \(stream)")
  }

  /// Streams of notices are cut at 100,000.
  private func compareNotices(_ stream: String, _ expected: Int) async throws {
    guard expected < 100_000 else { return }
    try expectSame(try await count("XLEN", stream), expected, "the length of \(stream)")
  }

  /// No segment and no bitmap is left of a chunk that ended, and none is missing.
  private func compareSegments() async throws {
    let keys = try await keys(":segment:")
    let expected = model.segments.keys.map { store.keys.segment($0.segment, source: $0.source) }
    try expectSame(keys.sorted(), expected.sorted(), "the segments")
    let done = try await self.keys(":done:")
    let bitmaps = model.segments.filter { $0.value.done.count > 0 }.keys.map {
      store.keys.done($0.segment, source: $0.source)
    }
    try expectSame(done.sorted(), bitmaps.sorted(), "the bitmaps")
  }

  private func keys(_ part: String) async throws -> [String] {
    var found: Set<String> = []
    var cursor = "0"
    repeat {
      let pattern = store.keys.prefix + part + "*"
      let reply = try await store.redis("SCAN", cursor, "MATCH", pattern, "COUNT", "1000")
      cursor = reply.array?[0].string ?? "0"
      found.formUnion((reply.array?[1].array ?? []).compactMap(\.string))
    } while cursor != "0"
    return Array(found)
  }

  private func count(_ command: String, _ key: String) async throws -> Int {
    try await store.redis(command, key).integer ?? -1
  }

  // MARK: The end

  /// Somebody healthy takes everything over and brings it to its end.
  func drain() async throws {
    consumers.append(Consumer(name: "last"))
    let last = consumers.count - 1
    for id in model.jobs.keys.sorted() {
      note("resume \(id)")
      try expectSame(
        try await store.jobs.resume(app: Self.app, id: id), model.resume(id), "resume")
    }
    for _ in 0..<1_000 {
      try await take(last, max: 10, reclaims: true)
      while !consumers[last].entries.isEmpty { try await admit(last, 0) }
      try await hurry()
      try await promote(max: 10_000)
      try await reclaim(last, max: 10, any: true)
      try await claim(last, max: 10)
      while !consumers[last].runs.isEmpty {
        try await settle(last, 0, report(of: consumers[last].runs[0], isFinal: true))
        if consumers[last].runs.first?.last != nil { consumers[last].runs.removeFirst() }
      }
      try complain()
      let work = model.chunks.values.reduce(0) { $0 + $1.count } + model.delayed.count
      if work + model.entries.values.reduce(0, { $0 + $1.count }) == 0 { return }
    }
    throw Mismatch(what: "the work does not come to an end")
  }

  func expectNothingLeft() async throws {
    for (id, job) in model.jobs.sorted(by: { $0.key < $1.key }) where job.isAdmitted {
      try expectSame(job.isFinished, true, "whether \(id) has ended")
      try expectSame(job.total, job.counts.settled, "the sum of \(id)")
    }
    try expectSame(model.segments.count, 0, "segments that are left")
    for kind in ["segment", "done", "parked", "unfinished"] {
      try expectSame(try await keys(":\(kind):"), [], "keys that are left")
    }
  }
}
