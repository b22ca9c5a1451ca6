import LocalServices
import Model
import Stage

/// Row 27: workers and Redis are killed while jobs start in one time zone after the other.
///
/// The zones are made up, and it is nine o'clock in the next one each second. In some of them clocks skip nine, in some
/// they show it twice.
struct LocalTimeRow: MatrixRow {
  let number = 27
  let fault = "kills of workers and Redis amid jobs at local times"

  private static let zones = 40
  private static let zonesBrief = 10
  private static let everyMs: Int64 = 1_000
  private static let users = 4_000
  private static let usersBrief = 500
  /// The time between enqueueing and the first zone's nine.
  private static let aheadMs: Int64 = 3_000
  private static let aheadMsBrief: Int64 = 8_000
  private static let pauseMs: ClosedRange<UInt64> = 1_500...4_000
  private static let faults: [Nemesis] = [.kill, .redisRestart, .kill, .functions, .restart]
  /// How late a push may be on an idle machine.
  private static let lateSecondsMax = 1.0
  private static let more = #","deliver_local":"09:00","ttl_seconds":3600"#

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    if trial.wants(phase: "faults", isLong: false) { try await strike(trial, &result) }
    if trial.wants(phase: "idle", isLong: true) { try await idle(trial, &result) }
    return result
  }

  private func options(_ trial: Trial) -> StageOptions {
    var options = StageOptions(users: trial.isBrief ? Self.usersBrief : Self.users)
    options.crowd.timeZones = trial.isBrief ? Self.zonesBrief : Self.zones
    options.crowd.channel = CampaignAudience.channel.rawValue
    return options
  }

  /// Campaigns to each kind of audience, amid faults.
  private func strike(_ trial: Trial, _ result: inout RowResult) async throws {
    var options = options(trial)
    options.redis.appendOnly = true
    // What a slow disk costs is not the question here.
    options.redis.appendSync = "always"
    try await ChaosStage.with(trial, options) { stage in
      try await stage.fillAudiences()
      let zones = try await start(CampaignAudience.allCases, stage)
      let lastMs = zones.map(\.nineMs).max() ?? 0
      var dice = trial.dice(.faults)
      var allowed = 0
      try await ChaosStage.pause(ms: UInt64(max(0, zones[0].nineMs - EpochClock.nowMs())))
      while EpochClock.nowMs() < lastMs {
        let fault = Self.faults[result.runs % Self.faults.count]
        trial.say(
          "\(fault.rawValue), \((lastMs - EpochClock.nowMs()) / 1_000) s before the last zone")
        allowed += try await fault.strike(stage, &dice)
        result.runs += 1
        try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.take(reckoning, duplicatesMax: allowed)
      result.expectAllAccepted(reckoning)
      try judge(zones, stage, &result)
    }
  }

  /// One campaign on an idle machine.
  private func idle(_ trial: Trial, _ result: inout RowResult) async throws {
    var options = options(trial)
    options.workers = 1
    try await ChaosStage.with(trial, options) { stage in
      let zones = try await start([.all], stage)
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs += 1
      result.take(reckoning, duplicatesMax: 0, "idle")
      result.expectAllAccepted(reckoning, "idle")
      let seconds = try judge(zones, stage, &result, "idle")
      result.expect(
        seconds < trial.limit(Self.lateSecondsMax), "idle: a push was \(tenths(seconds)) s late")
    }
  }

  /// Makes the zones and enqueues the campaigns.
  private func start(
    _ audiences: [CampaignAudience], _ stage: ChaosStage
  ) async throws -> [TimeZoneFolder.Zone] {
    guard let folder = stage.timeZones else { throw ChaosError("this stage has no time zones") }
    let aheadMs = stage.trial.isBrief ? Self.aheadMsBrief : Self.aheadMs
    // Zones' clocks show whole seconds.
    let zones = try folder.make(
      stage.options.crowd.timeZones, firstMs: EpochClock.nowMs() + aheadMs, everyMs: Self.everyMs)
    try await stage.startCampaigns(audiences, more: Self.more)
    guard EpochClock.nowMs() < zones[0].nineMs else {
      throw ChaosError("it was nine in the first zone before all campaigns were enqueued")
    }
    return zones
  }

  /// Compares when each was sent to with when it was nine there.
  /// - Returns: by how many seconds the latest push was late.
  @discardableResult
  private func judge(
    _ zones: [TimeZoneFolder.Zone], _ stage: ChaosStage, _ result: inout RowResult,
    _ name: String = "faults"
  ) throws -> Double {
    var early = 0
    var latestMs: Int64 = 0
    try AcceptLogFile.forEach(stage.acceptLog) { line in
      guard let user = line.user else { return }
      let lateMs = line.atMs - zones[user % zones.count].nineMs
      if lateMs < 0 { early += 1 }
      latestMs = max(latestMs, lateMs)
    }
    result.expect(early == 0, "\(name): \(early) pushes were sent before it was nine")
    let seconds = Double(latestMs) / 1_000
    result.note(
      "\(name): \(zones.count) zones, the latest push \(tenths(seconds)) s after nine there")
    return seconds
  }
}
