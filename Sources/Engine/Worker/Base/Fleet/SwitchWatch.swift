internal import Logging
internal import Model
internal import Redis
internal import Store

/// Keeps up with what operators switch off and on.
final class SwitchWatch: Agent {
  private let store: ShardStore
  private let fleet: FleetSwitches
  /// A clock that is never set, and the same for all of a process.
  var nowNs: () -> UInt64
  private let log: Logger
  private let reasons: ReasonLog
  /// Whether it says in the log what has changed: each lane learns it, one of a process says it.
  private let isLogging: Bool
  private let onChange: (Switches) -> Void
  private var reading = SwitchReading()
  /// When what is off was asked for last.
  private var askedNs: UInt64?
  /// Whether they cannot be read, and no lane of the process has read them before: anything may be off.
  private(set) var isBlind = false
  private var isReading = false
  /// Who waits for what is being asked.
  private var readers: [UnsafeContinuation<Result<Void, RedisError>, Never>] = []

  /// - Parameters:
  ///   - fleet: shared by those of a process.
  ///   - nowNs: as the property.
  ///   - onChange: called with what is off from now on.
  init(
    store: ShardStore, fleet: FleetSwitches, nowNs: @escaping () -> UInt64, log: Logger,
    reasons: ReasonLog, isLogging: Bool,
    onChange: @escaping (Switches) -> Void
  ) {
    self.store = store
    self.fleet = fleet
    self.nowNs = nowNs
    self.log = log
    self.reasons = reasons
    self.isLogging = isLogging
    self.onChange = onChange
  }

  func turn() async -> UInt64 {
    let now = nowNs()
    let step = fleet.step(nowNs: now)
    if step == .ask {
      do throws(RedisError) { try await read() } catch {
        fleet.giveUp(begunNs: now)
        log.debug("switches: \(error)")
      }
      return WorkerLimits.switchesMs
    }
    guard let answer = fleet.last else { return WorkerLimits.switchesSoonMs }
    use(answer)
    if step == .wait { return WorkerLimits.switchesSoonMs }
    // All are to know the next answer soon after it came.
    let ageMs = (now - min(now, answer.askedNs)) / 1_000_000
    return max(1, WorkerLimits.switchesMs - min(WorkerLimits.switchesMs, ageMs))
  }

  /// Asks what is switched off, unless that was asked not long ago; once for all who want to know meanwhile.
  func readIfOld() async throws(RedisError) {
    // What is being asked already may have been asked long ago; what is asked after that was not.
    for _ in 1...2 where isOld {
      guard isReading else { return try await readForAll() }
      try await withUnsafeContinuation { readers.append($0) }.get()
    }
  }

  private func readForAll() async throws(RedisError) {
    isReading = true
    var result = Result<Void, RedisError>.success(())
    do throws(RedisError) { try await read() } catch { result = .failure(error) }
    isReading = false
    let readers = readers
    self.readers = []
    for reader in readers { reader.resume(returning: result) }
    try result.get()
  }

  /// Whether that was not asked lately.
  var isOld: Bool {
    guard let askedNs else { return true }
    return nowNs() &- askedNs > WorkerLimits.switchesAgeMsMax &* 1_000_000
  }

  /// Asks what is switched off now. While that cannot be read, what was off stays off.
  /// - Throws: also when it cannot be read and no lane of the process has ever read it. Then nothing is to be sent.
  func read() async throws(RedisError) {
    let askedNs = nowNs()
    let reading: SwitchReading
    do throws(RedisError) {
      reading = try await store.switches.read()
    } catch {
      guard case .server("WRONGTYPE", _) = error else { throw error }
      // Anything may have been off that nobody has read.
      guard let known = fleet.last?.reading else {
        isBlind = true
        reasons.note(
          "\(store.keys.switches) is no HASH: what is switched off is not known, and nothing is sent; "
            + "see the alarm wrong_type")
        throw error
      }
      reasons.note(
        "\(store.keys.switches) is no HASH, so nothing can be switched off: see the alarm wrong_type"
      )
      // What was off stays off, as all lanes know it.
      reading = known
    }
    let answer = FleetSwitches.Answer(reading: reading, askedNs: askedNs)
    fleet.tell(answer)
    use(answer)
  }

  private func use(_ answer: FleetSwitches.Answer) {
    // What it has asked for itself may be newer.
    guard askedNs.map({ $0 <= answer.askedNs }) ?? true else { return }
    let (before, reading) = (self.reading, answer.reading)
    askedNs = answer.askedNs
    isBlind = false
    self.reading = reading
    if reading != before { onChange(Switches(reading)) }
    if reading.isOverfull {
      reasons.note(
        "\(reading.count) switches are off and only \(StoreLimits.switchesMax) are honoured: "
          + "take some out of \(store.keys.switches)")
    }
    if reading != before { say(before) }
  }

  private func say(_ before: SwitchReading) {
    for field in reading.unknown where !before.unknown.contains(field) {
      log.warning("\(store.keys.switches) has a field that says nothing to this version: \(field)")
    }
    guard isLogging else { return }
    let users = reading.entries.count { if case .user = $0.killSwitch { true } else { false } }
    let fields: [String] = reading.entries.map(\.killSwitch).compactMap { killSwitch in
      // Any client may have written it.
      if case .user = killSwitch { nil } else { FieldPointer.printable(killSwitch.field) }
    }
    log.notice(
      "what is switched off has changed",
      metadata: ["off": "\(fields.sorted().joined(separator: " "))", "users": "\(users)"])
  }
}
