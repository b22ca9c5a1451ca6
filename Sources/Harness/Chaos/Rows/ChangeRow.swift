import LocalServices
import Model
import Store

/// Row 26: devices are installed, moved and uninstalled, and users subscribe and unsubscribe, 1,000 times a second, while
/// campaigns to all and to a topic run and workers and Redis are killed. Who belongs throughout receives once, and who never
/// belongs receives nothing.
struct ChangeRow: MatrixRow {
  let number = 26
  let fault = "kill -9 of workers and of Redis while audiences change"

  private static let users = 1_000_000
  private static let usersMin = 20_000
  private static let kills = 5
  private static let crashes = 2
  private static let downMs: ClosedRange<UInt64> = 0...1_000
  private static let changesPerSecond = 1_000
  private static let topic = "news"

  /// The part of a user of the crowd, by number.
  private enum Part {
    /// Has a device and subscribes throughout.
    case steady
    /// Has a device throughout, and never subscribes.
    case unsubscribed
    case changing

    init(_ number: Int) {
      switch number % 10 {
      case 0..<6: self = .steady
      case 6: self = .unsubscribed
      default: self = .changing
      }
    }
  }

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    var options = StageOptions(users: trial.scaled(Self.users, atLeast: Self.usersMin))
    options.redis.appendOnly = true
    options.redis.appendSync = "always"
    let inHand = options.inHandMax
    try await ChaosStage.with(trial, options) { stage in
      let crowd = stage.crowd
      try await Self.subscribe(stage, (0..<crowd.count).filter { Part($0) != .unsubscribed })
      let isEnough = Notice()
      let (entries, changes) = try await withThrowingTaskGroup(of: Int.self) { group in
        group.addTask { try await Self.change(stage, until: isEnough) }
        let entries = [
          try await Self.enqueue(stage, #""all":true"#),
          try await Self.enqueue(stage, #""topic":"\#(Self.topic)""#),
        ]
        let struck: Swift.Result<Void, any Error>
        do { struck = .success(try await Self.strike(stage, entries, &result)) } catch {
          struck = .failure(error)
        }
        isEnough.raise()
        let changes = try await group.next() ?? 0
        try struck.get()
        return (entries, changes)
      }
      let records = try await stage.drain()
      try Self.judge(stage, entries, records, allowed: result.runs * inHand, &result)
      result.note("\(changes) installations, removals, moves and subscriptions meanwhile")
      result.expect(changes > 0, "nothing changed")
    }
    return result
  }

  private static func enqueue(
    _ stage: ChaosStage, _ audience: String
  ) async throws -> LedgerEntry {
    let entry = stage.ledger.open(app: stage.crowd.app, users: 0..<stage.crowd.count)
    try await stage.session.enqueue(
      stage.crowd.job(id: entry.id, topic: entry.topic, audience: audience))
    stage.ledger.acknowledge(entry.number)
    return entry
  }

  private static func subscribe(_ stage: ChaosStage, _ numbers: [Int]) async throws {
    for first in stride(from: 0, to: numbers.count, by: StoreLimits.subscriptionsMax) {
      let some = numbers[first..<min(first + StoreLimits.subscriptionsMax, numbers.count)]
      try await stage.session.subscribe(
        some.map {
          Subscription(app: stage.crowd.app, topic: topic, user: stage.crowd.user($0))
        })
    }
  }

  // MARK: Faults

  /// Kills workers and Redis, evenly over the time that the campaigns take.
  private static func strike(
    _ stage: ChaosStage, _ entries: [LedgerEntry], _ result: inout RowResult
  ) async throws {
    var dice = stage.trial.dice(.faults)
    let kills = stage.trial.scaled(Self.kills, atLeast: 2)
    let crashes = stage.trial.scaled(Self.crashes)
    let strikes = kills + crashes
    for strike in 1...strikes {
      let wanted = stage.ledger.pushes * strike * 6 / 10 / strikes
      _ = try await stage.eventually(ChaosLimits.drainMsMax) {
        try await accepted(stage, entries) >= wanted ? true : nil
      }
      stage.trial.say("fault \(strike) of \(strikes)")
      // The crashes are among the kills, not all behind them.
      if strike * crashes / strikes > (strike - 1) * crashes / strikes {
        await stage.crashRedis()
        try await ChaosStage.pause(ms: dice.pick(downMs))
        try await stage.redis.restart()
        result.runs += stage.options.workers
      } else {
        let members = await stage.fleet.members
        await stage.fleet.kill(members[dice.pick(0...(members.count - 1))])
        try await stage.fleet.start()
        result.runs += 1
      }
    }
    var running = 0
    for entry in entries {
      let record = try await stage.session.record(app: entry.app, id: entry.id)
      if record?.state.isFinal != true { running += 1 }
    }
    result.expect(running > 0, "the campaigns had ended before the last fault")
  }

  private static func accepted(_ stage: ChaosStage, _ entries: [LedgerEntry]) async throws -> Int {
    var sum = 0
    for entry in entries {
      sum += try await stage.session.record(app: entry.app, id: entry.id)?.counts.accepted ?? 0
    }
    return sum
  }

  // MARK: Changes

  /// Changes what users of the changing part have, so many times a second.
  /// - Returns: how many changes were made.
  private static func change(_ stage: ChaosStage, until isEnough: Notice) async throws -> Int {
    var dice = stage.trial.dice(.load)
    let numbers = (0..<stage.crowd.count).filter { Part($0) == .changing }
    let clock = ContinuousClock()
    var (count, next) = (0, clock.now)
    while !isEnough.isRaised {
      let some = (0..<changesPerSecond / 20).map { _ in (dice.pick(numbers)!, dice.below(5)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, kind) in some {
          group.addTask { try await stage.session.change(number, kind, stage.crowd, topic) }
        }
        try await group.waitForAll()
      }
      count += some.count
      // What a crash held up is not made up for.
      next = max(next + .milliseconds(50), clock.now)
      try await clock.sleep(until: next)
    }
    return count
  }

  // MARK: Judgement

  private static func judge(
    _ stage: ChaosStage, _ entries: [LedgerEntry], _ records: [Int: JobRecord], allowed: Int,
    _ result: inout RowResult
  ) throws {
    var counts = entries.map { _ in [UInt8](repeating: 0, count: stage.crowd.count) }
    var strangers = 0
    try AcceptLogFile.forEach(stage.acceptLog) { line in
      guard let job = line.job, entries.indices.contains(job), let user = line.user,
        user < stage.crowd.count
      else { return strangers += 1 }
      counts[job][user] = counts[job][user] &+ 1
    }
    result.expect(strangers == 0, "\(strangers) accepts are of nobody")
    var twiceOfChanging = 0
    for (entry, name) in zip(entries, ["all", "topic"]) {
      let belongs = { (part: Part) in part == .steady || (part == .unsubscribed && name == "all") }
      var (missing, phantoms) = (0, 0)
      for (number, count) in counts[entry.number].enumerated() {
        let part = Part(number)
        let more = max(0, Int(count) - 1)
        if part == .changing {
          // A device that moves to another user meanwhile is one of each.
          twiceOfChanging += more
        } else if belongs(part) {
          result.pushes += 1
          if count == 0 { missing += 1 }
          result.duplicates += more
        } else if count > 0 {
          phantoms += 1
        }
      }
      result.lost += missing
      result.phantoms += phantoms
      result.expect(missing == 0, "\(name): \(missing) who belonged throughout received nothing")
      result.expect(phantoms == 0, "\(name): \(phantoms) who never belonged received it")
      let record = records[entry.number]
      result.expect(
        record?.state == .done && record?.isBalanced == true && record?.pending == 0,
        "\(name): \(record.map { "\($0)" } ?? "no record")")
    }
    result.duplicatesMax = allowed
    let duplicates = result.duplicates
    result.expect(
      duplicates <= allowed, "\(duplicates) duplicates, at most \(allowed) are explained")
    result.note(
      "\(twiceOfChanging) further pushes to devices that changed hands meanwhile, or twice")
  }
}
