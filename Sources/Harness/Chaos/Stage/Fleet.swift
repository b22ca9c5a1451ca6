import Glibc
import LocalServices
import Stage

/// Real `pushpool worker` processes, to be killed, frozen and restarted.
actor Fleet {
  /// One process; its log is a file of its own.
  struct Member: Sendable {
    let number: Int
    let child: ChildProcess
    let logFile: String
    let healthFile: String
    /// Whether it is to end by itself, at a crash point.
    let isToCrash: Bool

    /// Whether a consumer group's consumer is a lane of it: names are `host-pid-random-lane`.
    func owns(consumer: String) -> Bool {
      let parts = consumer.split(separator: "-")
      return parts.count >= 3 && parts[parts.count - 3] == String(child.pid)
    }
  }

  private let program: String
  private let configurationFile: String
  private let lesserFile: String
  private let folder: String
  /// The variables that every member has in its environment.
  private let environment: [String: String]
  private(set) var members: [Member] = []
  private var started = 0
  /// Largest resident memory of members that are gone.
  private var residentBytesMaxOfGone = 0
  /// Members that had ended by themselves before they were to be killed.
  private var deserters: [Member] = []

  init(
    program: String, configurationFile: String, lesserFile: String, folder: String,
    environment: [String: String]
  ) {
    self.program = program
    self.configurationFile = configurationFile
    self.lesserFile = lesserFile
    self.folder = folder
    self.environment = environment
  }

  /// - Parameters:
  ///   - lesser: whether it is to have the lesser configuration, which lacks an app.
  ///   - environment: beside what every member has; the caller's PUSHPOOL_ variables would win over the file.
  @discardableResult
  func start(lesser: Bool = false, environment: [String: String] = [:]) throws -> Member {
    started += 1
    let logFile = "\(folder)/worker-\(started).log"
    let healthFile = "\(folder)/worker-\(started).health"
    let worker = try WorkerProcess(
      program: program, configurationFile: lesser ? lesserFile : configurationFile,
      environment: self.environment.merging(environment) { $1 }, log: logFile,
      healthFile: healthFile)
    let member = Member(
      number: started, child: worker.child, logFile: logFile, healthFile: healthFile,
      isToCrash: environment["PUSHPOOL_CRASH_AT"] != nil)
    members.append(member)
    return member
  }

  /// Ends a member as a crash would.
  func kill(_ member: Member) async {
    note(member)
    await member.child.kill()
    members.removeAll { $0.number == member.number }
  }

  /// Ends a member in order, once it works: before that a signal ends it as it ends any program.
  /// - Returns: whether it ended by itself and said success.
  func stop(_ member: Member) async -> Bool {
    await waitUntilStarted(member)
    note(member)
    let exit = await member.child.terminate(graceMs: ChaosLimits.stopMsMax)
    members.removeAll { $0.number == member.number }
    return exit == .code(0)
  }

  private func waitUntilStarted(_ member: Member) async {
    let deadline = ContinuousClock.now + .milliseconds(ChaosLimits.startMsMax)
    while member.child.exit == nil, ContinuousClock.now < deadline,
      TextFile.read(member.logFile, bytesMax: ChaosLimits.textBytesMax)?.contains("started") != true
    {
      try? await Task.sleep(for: .milliseconds(ChaosLimits.pollMs))
    }
  }

  /// Ends a member in order; throws if it did not say success.
  func retire(_ member: Member) async throws(ChaosError) {
    guard await stop(member) else {
      throw ChaosError("worker \(member.number) did not end with exit code 0")
    }
  }

  func killAll() async {
    for member in members { await kill(member) }
  }

  /// Throws if a member, killed later or not, ended although nobody asked it to.
  func expectLoyalty() throws(ChaosError) {
    let gone = deserters + members.filter(hasDeserted)
    guard let first = gone.first else { return }
    let lines = (TextFile.read(first.logFile, bytesMax: ChaosLimits.textBytesMax) ?? "")
      .split(separator: "\n")
    let telling = lines.first { $0.contains("crashed") } ?? lines.last ?? "nothing"
    throw ChaosError(
      "\(gone.count) workers ended by themselves; the first one's log says: \(telling)")
  }

  private func hasDeserted(_ member: Member) -> Bool {
    member.child.exit != nil && !member.isToCrash
  }

  /// The largest resident memory that any member ever had.
  var residentBytesMax: Int {
    members.reduce(residentBytesMaxOfGone) {
      max($0, (try? ProcessUsage(pid: $1.child.pid))?.residentBytesMax ?? 0)
    }
  }

  /// Keeps what only a member tells that goes.
  private func note(_ member: Member) {
    if hasDeserted(member) { deserters.append(member) }
    residentBytesMaxOfGone = max(
      residentBytesMaxOfGone, (try? ProcessUsage(pid: member.child.pid))?.residentBytesMax ?? 0)
  }

  /// How many lines of all logs hold this text.
  func logLines(with text: String) -> Int {
    (1...max(1, started)).reduce(0) { sum, number in
      sum
        + (TextFile.read(
          "\(folder)/worker-\(number).log", bytesMax: ChaosLimits.textBytesMax) ?? "").split(
          separator: "\n"
        )
        .count { $0.contains(text) }
    }
  }
}
