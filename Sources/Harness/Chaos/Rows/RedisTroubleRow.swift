import LocalServices
import Redis

/// Row 10: Redis is there and refuses.
struct RedisTroubleRow: MatrixRow {
  let number = 10
  let fault = "Redis full, read-only, no disk, no right, wrong type, flushed"

  private enum Trouble: String, Sendable, CaseIterable {
    case memory = "out of memory"
    case readOnly = "read-only"
    case disk = "a disk that fails"
    case right = "a right taken away"
    case wrongType = "a wrong type written over the chunks"
    case wrongTypeOfJobs = "a wrong type in place of the jobs"
    case functions = "functions flushed"
    case stream = "chunks' stream deleted"

    /// The first word of what Redis says.
    var code: String? {
      switch self {
      case .memory: "OOM"
      case .readOnly: "READONLY"
      case .disk: "MISCONF"
      case .right: "NOPERM"
      case .wrongType: "WRONGTYPE"
      // What is in the place of the jobs is moved aside before anybody is refused.
      case .wrongTypeOfJobs, .functions, .stream: nil
      }
    }

    /// A stream that is gone is found by the reconciliation, which looks each minute on average.
    var recoverySeconds: Double { self == .stream || self == .wrongType ? 180 : 10 }

    /// Whether the leases of what is in hand are lost with a stream.
    var losesLeases: Bool { [.stream, .wrongType, .wrongTypeOfJobs].contains(self) }
  }

  /// The kinds that a brief trial takes, one of what is alike; the reconciliation that finds a lost stream takes a
  /// minute.
  private static let quick: [Trouble] = [.memory, .wrongTypeOfJobs, .functions]
  private static let chunks = "pushpool:chunks:normal"
  private static let jobs = "pushpool:jobs:normal"

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let troubles = trial.isBrief ? Self.quick : Trouble.allCases
    for trouble in troubles {
      trial.say(trouble.rawValue)
      try await run(trouble, trial, &result)
    }
    result.runs = troubles.count
    return result
  }

  private func run(_ trouble: Trouble, _ trial: Trial, _ result: inout RowResult) async throws {
    var options = StageOptions()
    options.users = trial.isBrief ? 4_000 : 20_000
    options.workers = 2
    // Longer than the trouble: what is measured is not the lease.
    options.leaseSeconds = 15
    let troubleMs = trial.scaledMs(5_000, atLeast: 1_500)
    try await ChaosStage.with(trial, options) { stage in
      let seconds = try await stage.underLoad { stage in
        try await ChaosStage.pause(ms: 1_000)
        try await Self.begin(trouble, stage)
        try await ChaosStage.pause(ms: troubleMs)
        try await Self.end(trouble, stage)
        return try await stage.secondsUntilProgress(patienceSeconds: 200)
      }
      let reckoning = try stage.reckon(try await stage.drain())
      let name = trouble.rawValue
      let isLost = trouble.losesLeases
      result.take(
        reckoning, duplicatesMax: isLost ? options.workers * options.inHandMax : 0, name)
      result.expectAllAccepted(reckoning, name)
      result.noteRecovery(seconds)
      result.expect(
        seconds <= trial.limit(trouble.recoverySeconds),
        "\(name): nothing went on within \(tenths(seconds)) s")
      let letters = try await stage.deadLetters().count
      result.expect(letters == 0, "\(name): \(letters) dead letters")
      if let code = trouble.code {
        let lines = await stage.fleet.logLines(with: code)
        result.note("\(name): the workers' logs name \(code) in \(lines) lines")
        result.expect(lines > 0, "\(name): no worker's log names \(code)")
      }
    }
  }

  private static func begin(_ trouble: Trouble, _ stage: ChaosStage) async throws {
    switch trouble {
    case .memory: try await stage.tell("CONFIG", "SET", "maxmemory", "1mb")
    case .readOnly:
      // A primary that is not there: the replica keeps what it has and takes nothing.
      try await stage.tell("REPLICAOF", "127.0.0.1", String(try FreePort.find()))
    case .disk: try await stage.redis.refuseWrites()
    // Everybody's, as when the user is changed by mistake.
    case .right: try await stage.tell("ACL", "SETUSER", "default", "-fcall")
    case .wrongType: try await stage.tell("SET", chunks, "wrong")
    case .wrongTypeOfJobs: try await hide(jobs, stage)
    case .functions: try await stage.tell("FUNCTION", "FLUSH")
    case .stream: try await stage.tell("DEL", chunks)
    }
  }

  private static func end(_ trouble: Trouble, _ stage: ChaosStage) async throws {
    switch trouble {
    case .memory: try await stage.tell("CONFIG", "SET", "maxmemory", "0")
    case .readOnly: try await stage.tell("REPLICAOF", "NO", "ONE")
    case .disk: try await stage.redis.takeWritesAgain()
    case .right: try await stage.tell("ACL", "SETUSER", "default", "+fcall")
    case .wrongTypeOfJobs: try await add(to: jobs, stage)
    case .functions: try await stage.tell("FUNCTION", "FLUSH")
    case .stream, .wrongType: break
    }
  }

  /// Puts a string where a stream is, and keeps the stream.
  private static func hide(_ key: String, _ stage: ChaosStage) async throws {
    try await stage.tell(
      "EVAL", "redis.call('RENAME', KEYS[1], KEYS[2]) redis.call('SET', KEYS[1], 'wrong')", "2",
      key, "hidden")
  }

  /// Enqueues what was hidden anew, as producers do whose jobs are lost: what was taken already is a repetition.
  private static func add(to key: String, _ stage: ChaosStage) async throws {
    try await stage.tell(
      "EVAL",
      """
      for _, item in ipairs(redis.call('XRANGE', KEYS[2], '-', '+')) do
        redis.call('XADD', KEYS[1], '*', unpack(item[2]))
      end
      redis.call('DEL', KEYS[2])
      """, "2", key, "hidden")
  }
}
