import Model
import Redis
import Stage

/// Row 8: a chunk that ends every worker that touches it, and jobs that nobody can read.
struct PoisonRow: MatrixRow {
  let number = 8
  let fault = "poison chunk, poison jobs"

  private static let poisoned = 100
  /// More than a chunk may cost (docs/internals/protocol.md, Crashes).
  private static let killsMax = 8
  private static let patienceMs: UInt64 = 20_000

  /// Jobs that no worker can admit.
  private static let unreadable = [
    "", "nonsense", "[]", "{}", #"{"id": "x", "app": "nobody", "audience": {"users": ["u1"]}}"#,
    #"{"app": "shop", "audience": {"users": "u1"}, "notification": {"title": "a"}}"#,
    #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"title": "a"}, "nope": 1}"#,
    String(repeating: "[", count: 100_000), "\u{0}\u{1}",
  ]

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    var options = StageOptions()
    options.users = trial.isBrief ? 4_000 : 20_000
    options.leaseSeconds = 1
    // The poisoned pushes are never answered: their chunk is in hand for as long as a worker lives.
    options.requestTimeoutSeconds = 60
    return try await ChaosStage.with(trial, options) { stage in
      try await stage.simulator.follow(
        options.script(#""rules": [{"token_prefix": "dead", "action": "stall"}]"#))
      let crowd = Crowd(
        app: ChaosStage.app, count: Self.poisoned, prefix: "dead", userPrefix: "poisoned")
      try await stage.install(crowd)
      for job in Self.unreadable { try await stage.session.enqueue(Array(job.utf8)) }
      let poison = try await stage.enqueue(0..<Self.poisoned, to: crowd)
      let kills = try await stage.underLoad { stage in
        try await Self.killHolders(of: poison, stage)
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = kills + Self.unreadable.count
      // What the killed had in hand of other jobs.
      result.take(reckoning, duplicatesMax: kills * options.inHandMax)
      result.expect(
        reckoning.failed == Self.poisoned,
        "\(reckoning.failed) pushes were given up, \(Self.poisoned) are poisoned")
      try await Self.check(try await stage.deadLetters(), poison, kills, &result)
      return result
    }
  }

  /// Kills whoever holds the poisoned chunk until nobody does.
  /// - Returns: how many that took.
  private static func killHolders(of poison: LedgerEntry, _ stage: ChaosStage) async throws -> Int {
    let stream = "pushpool:chunks:normal"
    for kill in 1...killsMax {
      // A lane that cannot send hands a chunk back, and it comes again under another entry.
      let holder = try await stage.eventually(patienceMs) { () -> Holder? in
        let entries = try await stage.entries(stream)
        guard let entry = entries.first(where: { $0.fields["job"] == poison.id })?.id else {
          let record = try await stage.session.record(app: poison.app, id: poison.id)
          return record?.state.isFinal == true ? .nobody : nil
        }
        let reply = try await stage.session.command(
          "XPENDING", stream, "workers", entry, entry, "1")
        guard let found = reply.array?.first?.array, found.count > 1 else { return nil }
        let consumer = found[1].string ?? ""
        return await stage.fleet.members.first { $0.owns(consumer: consumer) }.map { .member($0) }
      }
      guard let holder else { throw ChaosError("nobody took the poisoned chunk in hand") }
      guard case .member(let victim) = holder else { return kill - 1 }
      stage.trial.say("kill \(kill) for the poisoned chunk")
      await stage.fleet.kill(victim)
      try await stage.fleet.start()
    }
    return killsMax
  }

  private enum Holder: Sendable {
    case member(Fleet.Member)
    /// The chunk is gone.
    case nobody
  }

  private static func check(
    _ letters: [[String: String]], _ poison: LedgerEntry, _ kills: Int, _ result: inout RowResult
  ) async throws {
    let chunks = letters.filter { $0["kind"] == "chunk" }
    result.expect(
      chunks.count == 1 && chunks.first?["id"] == poison.id,
      "\(chunks.count) chunks became dead letters, one is poisoned")
    result.expect(
      chunks.first?["count"] == String(poisoned),
      "the dead chunk names \(chunks.first?["count"] ?? "no") recipients, \(poisoned) are poisoned")
    let jobs = letters.filter { $0["kind"] == "job" }
    result.expect(
      jobs.count == unreadable.count,
      "\(jobs.count) jobs became dead letters, \(unreadable.count) are unreadable")
    for letter in letters
    where letter["reason"]?.isEmpty != false || letter["message"]?.isEmpty != false {
      result.fail("a dead letter has no reason: \(letter)")
    }
    result.note("the poisoned chunk became a dead letter after \(kills) workers")
  }
}
