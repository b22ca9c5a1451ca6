import LocalServices
import Model
import Redis
import Simulator
import Store
import Testing

extension SimulatorScript {
  /// Answers after 50 ms: with 20 at a time these are 400 pushes a second.
  static let slow = stage { $0.delayMs = 50 }

  /// A healthy provider that checks all that APNs checks, but for the change.
  static func stage(_ change: (inout SimulatorScript) -> Void = { _ in }) -> SimulatorScript {
    var script = SimulatorScript()
    change(&script)
    return script
  }
}

extension PushStage {
  /// How long a test waits for what is to happen in the end: far longer than it takes, on a busy machine too.
  static let patienceSeconds: Double = 60
  /// What is promised within a second is asked for within three: this machine has other tests to run.
  static let promptMs: Int64 = 3_000

  /// Accepts beyond the first of a token.
  var duplicates: Int {
    let accepted = simulator.acceptedPushes
    return accepted.count - Set(accepted.map(\.token)).count
  }

  /// Every one of so many installations was accepted exactly once, and the record says so.
  func expectDelivered(
    _ record: JobRecord, _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(record.state == .done, sourceLocation: sourceLocation)
    #expect(record.counts.accepted == count, sourceLocation: sourceLocation)
    #expect(record.total == count, sourceLocation: sourceLocation)
    #expect(record.pending == 0, sourceLocation: sourceLocation)
    #expect(record.isBalanced, sourceLocation: sourceLocation)
    let tokens = Set(simulator.acceptedPushes.map(\.token))
    #expect(tokens.count == count, "lost pushes", sourceLocation: sourceLocation)
    #expect(duplicates == 0, "sent twice", sourceLocation: sourceLocation)
    #expect(simulator.counters.violations == 0, sourceLocation: sourceLocation)
  }

  /// Waits until so many workers are there and say so.
  func waitUntilBeating(_ count: Int) async throws {
    _ = try await eventually("\(count) workers beat") {
      try await client.command("ZCARD", "pushpool:workers").integer == count ? true : nil
    }
  }

  func waitUntilAccepted(_ count: Int) async throws {
    _ = try await eventually("\(count) pushes are accepted") {
      simulator.counters.accepted >= count ? true : nil
    }
  }
}

extension StageClient {
  /// Finishes a job whose retries would come later than a test can wait: they all fall due now.
  func finishedInHaste(_ id: String, withinSeconds: Double = PushStage.patienceSeconds) async throws
    -> JobRecord
  {
    try await eventually(withinSeconds: withinSeconds, "job \(id) finishes in haste") {
      try await self.hurry()
      let record = try await self.record(id)
      return record?.state.isFinal == true && record?.refusal == nil ? record : nil
    }
  }

  /// Makes all delayed work due.
  func hurry() async throws {
    _ = try await command(
      "EVAL",
      """
      local members = redis.call('ZRANGE', KEYS[1], 0, -1)
      for _, member in ipairs(members) do redis.call('ZADD', KEYS[1], 'XX', 0, member) end
      return #members
      """, "1", "pushpool:delayed")
  }

  /// Milliseconds from now until the first delayed work is due; nil while there is none.
  func nextDueMs() async throws -> Double? {
    let first = try await command("ZRANGE", "pushpool:delayed", "0", "0", "WITHSCORES").array ?? []
    guard first.count == 2, let score = first[1].string.flatMap({ Double($0) }) else { return nil }
    return score - Double(try await serverMs())
  }

  /// Redis' own clock, in epoch milliseconds.
  func serverMs() async throws -> Int64 {
    let time = try await command("TIME").array ?? []
    let seconds = Int64(time[0].integer ?? 0)
    return seconds * 1_000 + Int64(time[1].integer ?? 0) / 1_000
  }

  /// The alarms that stand now.
  func alarms() async throws -> [Alarm] {
    let nowMs = try await serverMs()
    return try await alarms(nowMs: nowMs)
  }

  func length(_ stream: String) async throws -> Int {
    try await command("XLEN", "pushpool:\(stream)").integer ?? 0
  }

  /// The entries of a stream, fields by name.
  func entries(_ stream: String) async throws -> [[String: String]] {
    let entries = try await command("XRANGE", "pushpool:\(stream)", "-", "+").array ?? []
    var found: [[String: String]] = []
    for entry in entries {
      var fields = Dictionary(entry.array?[1].pairs ?? [], uniquingKeysWith: { $1 })
      if let kept = fields["kept"], let id = entry.array?[0].string {
        fields[kept] = try await command("GET", "pushpool:letter:\(id)").string
      }
      found.append(fields)
    }
    return found
  }

  /// Chunks that a worker has claimed and not finished.
  func claimedChunks() async throws -> Int { try await claimed("chunks") }

  /// Entries of the streams of `chunks` or `jobs` that workers have in hand.
  func claimed(_ kind: String) async throws -> Int {
    var sum = 0
    for priority in Priority.allCases {
      let stream = "pushpool:\(kind):\(priority.rawValue)"
      do {
        sum += try await command("XPENDING", stream, "workers").array?.first?.integer ?? 0
      } catch RedisError.server { continue }
    }
    return sum
  }
}
