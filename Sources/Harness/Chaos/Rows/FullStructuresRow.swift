import LocalServices
import Model
import Redis
import Store

/// Row 22: every structure of the store filled to its bound while workers work. No function may hold Redis up.
struct FullStructuresRow: MatrixRow {
  let number = 22
  let fault = "every structure filled to its bound"

  private static let callMsMax = 5.0
  /// The percentage of the calls, and their number where they are few, that a machine with other work may preempt.
  private static let slowPercentMax = 0.1
  private static let slowMin = 3
  /// The functions that read, refuse or retry a job: one that copied ten megabytes would take longer.
  private static let readers = [
    "take_jobs", "take_unanswered", "judge_entry", "list_ahead", "refuse", "dead_retry", "oldest",
  ]
  private static let copyingCallMs = 20.0
  /// More than few calls, each of which would copy one.
  private static let largeLetters = 2 * slowMin
  /// The users of an inline job of some 10 MiB.
  private static let largeJobUsers = 600_000
  private static let patienceMs: UInt64 = 120_000

  private struct Filling {
    let what: String
    let count: Int
    /// Fills with ARGV[1] of it, from number ARGV[2] on; the prefix is ARGV[3].
    let script: String
    /// By one script: a job's record is made with its first part.
    static let part = 5_000
  }

  private static func fillings(_ trial: Trial) -> [Filling] {
    /// Makes a job of its own, so that the workers' load is not in it.
    func job(_ id: String, _ state: String, _ place: String) -> String {
      """
      local p, job = ARGV[3], ARGV[3] .. ':job:shop:\(id)'
      local source = 'l\(id)'
      if ARGV[2] == '1' then
        redis.call('HSET', job, 'state', '\(state)', 'source', source, 'digest', 'd', 'admitted', '1',
          'priority', 'low', 'created_at', '1', 'segments', 0, 'cursor', 0, 'live', 0, 'residual_bytes', 0,
          'window', 256, 'lines', 'users', 'start_at', 0, 'residuals', 5000000)
        for _, f in ipairs({'total', 'pending', 'chunks', 'accepted', 'rejected', 'uninstalled', 'expired', 'skipped',
          'failed', 'no_installations', 'retries'}) do redis.call('HSET', job, f, 0) end
        redis.call('SET', p .. ':content:shop:\(id)', '{}')
        redis.call('SADD', p .. ':open', 'shop:\(id)')
      end
      for n = ARGV[2], ARGV[2] + ARGV[1] - 1 do
        local segment = 'r' .. string.format('%.0f', n)
        redis.call('SET', p .. ':segment:' .. segment .. ':' .. source, 'apns\\t\\taa\\ta\\t1\\t1\\n')
        redis.call('HSET', p .. ':unfinished:' .. source, segment, '')
        local member = cjson.encode({'low', 'shop', '\(id)', segment, source, 'installations', 0})
        \(place)
      end
      for _, f in ipairs({'total', 'pending', 'chunks'}) do redis.call('HINCRBY', job, f, ARGV[1]) end
      """
    }
    return [
      Filling(
        what: "parked chunks to cancel", count: trial.scaled(200_000, atLeast: 5_000),
        script: job(
          "cancelled", "paused", "redis.call('RPUSH', p .. ':parked:shop:cancelled', member)")),
      Filling(
        what: "delayed chunks", count: trial.scaled(100_000, atLeast: 5_000),
        script: job("delayed", "running", "redis.call('ZADD', p .. ':delayed', 4e12, member)")),
      Filling(
        what: "open jobs", count: trial.scaled(50_000, atLeast: 1_000),
        script: """
          for n = ARGV[2], ARGV[2] + ARGV[1] - 1 do
            local key = string.format('%s:job:shop:open-%.0f', ARGV[3], n)
            redis.call('HSET', key, 'state', 'paused', 'source', 'lo' .. n, 'digest', 'd', 'admitted', '1', 'priority', 'low',
              'lines', 'users', 'segments', 1, 'cursor', 0, 'chunks', 0, 'live', 0, 'residuals', 0, 'window', 1)
            redis.call('SADD', ARGV[3] .. ':open', string.format('shop:open-%.0f', n))
          end
          """),
      Filling(
        what: "dead letters of 1 MiB, as older versions kept them",
        count: trial.scaled(200, atLeast: 10),
        script: """
          for n = 1, ARGV[1] do
            redis.call('XADD', ARGV[3] .. ':dead', '*', 'kind', 'job', 'reason', 'invalid_job', 'priority', 'low', 'app',
              'shop', 'id', 'x', 'job', string.rep('x', 1048576))
          end
          """),
      Filling(
        what: "dead letters of 10 MiB", count: largeLetters,
        script: """
          for n = 1, ARGV[1] do
            local entry = redis.call('XADD', ARGV[3] .. ':dead', '*', 'kind', 'job', 'reason', 'invalid_job', 'priority', 'low',
              'app', 'shop', 'id', 'x', 'job', '', 'truncated', '1', 'kept', 'job')
            redis.call('SET', ARGV[3] .. ':letter:' .. entry, string.rep('x', 10485760))
          end
          """),
      Filling(
        what: "switches", count: 1_000,
        script: """
          for n = 1, ARGV[1] do redis.call('HSET', ARGV[3] .. ':switches', 'user|shop|nobody-' .. n, 'off') end
          """),
      Filling(
        what: "alarms", count: 250,
        script: """
          for n = 1, ARGV[1] do
            redis.call('HSET', ARGV[3] .. ':alarms', 'kind|app' .. n,
              '{"at":1,"until":9999999999999,"by":"x","message":"' .. string.rep('m', 200) .. '"}')
          end
          """),
    ]
  }

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    var options = StageOptions()
    if trial.isBrief { options.users = 2_000 }
    options.workers = 2
    try await ChaosStage.with(trial, options) { stage in
      for filling in Self.fillings(trial) {
        trial.say("\(filling.count) \(filling.what)")
        try await Self.fill(stage, filling)
        result.runs += 1
      }
      let microseconds = String(Int(Self.callMsMax * 1_000))
      _ = try await stage.session.command("CONFIG", "SET", "slowlog-log-slower-than", microseconds)
      _ = try await stage.session.command("CONFIG", "SET", "slowlog-max-len", "10000")
      _ = try await stage.session.command("SLOWLOG", "RESET")
      _ = try await stage.session.command("CONFIG", "RESETSTAT")
      try await stage.underLoad(pushesMin: trial.scaled(200_000, atLeast: 2_000)) { stage in
        _ = try await stage.session.cancel(app: "shop", id: "cancelled")
        for id in ["delayed", "open-1"] { try await stage.session.reconcile(app: "shop", id: id) }
        try await stage.session.listDeadLetters()
        try await stage.session.enqueue(Self.largeJob(trial))
        // They are refused again, by whoever takes them.
        let letters = try await stage.session.command("XLEN", "pushpool:dead").integer
        for entry in try await stage.session.largeLetters() {
          try await stage.session.retryDeadLetter(entry)
        }
        let isTakenIn = try await stage.eventually(Self.patienceMs) {
          try await stage.session.record(app: "shop", id: "large")?.finishedAtMs.map { _ in true }
        }
        guard isTakenIn != nil else { throw ChaosError("a large job does not end") }
        let isRefused = try await stage.eventually(Self.patienceMs) {
          try await stage.session.command("XLEN", "pushpool:dead").integer == letters ? true : nil
        }
        guard isRefused != nil else { throw ChaosError("large letters are not buried again") }
        let isCleared = try await stage.eventually(Self.patienceMs) {
          try await stage.session.record(app: "shop", id: "cancelled")?.finishedAtMs.map { _ in true
          }
        }
        guard isCleared != nil else { throw ChaosError("a cancelled job does not end") }
      }
      try await Self.judge(stage, trial, &result)
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: 0)
      result.expectAllAccepted(reckoning)
    }
    return result
  }

  /// For users without installations: what it takes to read it is the question.
  private static func largeJob(_ trial: Trial) -> [UInt8] {
    var json = Array(
      #"{"id":"large","app":"shop","notification":{"title":"t"},"audience":{"users":[""#.utf8)
    for number in 0..<trial.scaled(largeJobUsers, atLeast: 100_000) {
      json += "\(number == 0 ? "" : "\",\"")nobody-\(number)".utf8
    }
    return json + Array("\"]}}".utf8)
  }

  private static func fill(_ stage: ChaosStage, _ filling: Filling) async throws {
    for first in stride(from: 1, through: filling.count, by: Filling.part) {
      let count = min(Filling.part, filling.count - first + 1)
      _ = try await stage.session.command(
        "EVAL", filling.script, "0", String(count), String(first), "pushpool")
    }
  }

  /// Redis' own slow log says which functions took long.
  private static func judge(
    _ stage: ChaosStage, _ trial: Trial, _ result: inout RowResult
  ) async throws {
    let log = try await stage.session.command("SLOWLOG", "GET", "-1").array ?? []
    var slow = 0
    var copying = 0
    var longest: (name: String, ms: Double) = ("none", 0)
    var byName: [String: Int] = [:]
    for entry in log {
      let words = entry.array?[3].array ?? []
      guard words.first?.string == "FCALL", let microseconds = entry.array?[2].integer else {
        continue
      }
      slow += 1
      byName[words[1].string ?? "", default: 0] += 1
      let ms = Double(microseconds) / 1_000
      let isReader = readers.contains { words[1].string?.hasPrefix("pushpool_\($0)_") == true }
      if isReader, ms > copyingCallMs { copying += 1 }
      if ms > longest.ms { longest = (words[1].string ?? "", ms) }
    }
    let information = try await stage.session.command("INFO", "commandstats").string ?? ""
    let calls =
      information.split(separator: "cmdstat_fcall:calls=").dropFirst().first
      .flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    result.note(
      "\(slow) of \(calls) calls of functions took over \(tenths(callMsMax)) ms, the longest "
        + "\(tenths(longest.ms)) ms (\(longest.name))")
    for (name, count) in byName.sorted(by: { $0.key < $1.key }) { result.note("\(name): \(count)") }
    result.expect(calls > 0, "no function was called")
    result.expect(
      copying <= slowMin,
      "\(copying) calls for jobs took over \(tenths(copyingCallMs)) ms, as if they copied megabytes"
    )
    let allowed = max(slowMin, Int(trial.limit(slowPercentMax) * Double(calls) / 100))
    result.expect(
      slow <= allowed,
      "\(slow) of \(calls) calls of functions took over \(tenths(callMsMax)) ms, \(longest.name) "
        + "\(tenths(longest.ms)) ms")
  }
}
