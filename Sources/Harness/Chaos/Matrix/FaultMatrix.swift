package import LocalServices

/// All rows, in the order of docs/internals/reliability.md.
package enum FaultMatrix {
  static let rows: [any MatrixRow] = [
    KillRow(),
    CrashPointRow(),
    FreezeRow(),
    RedisCrashRow(),
    RedisNetworkRow(),
    ProviderRow(),
    BindingRow(),
    PoisonRow(),
    HostileInputRow(),
    RedisTroubleRow(),
    StopRow(),
    RollingRestartRow(),
    FairnessRow(),
    SoakRow(),
    AudienceRow(),
    UnequalRow(),
    SilentDeviceRow(),
    ClockRow(),
    BacklogRow(),
    PoisonedRequestRow(),
    AddressRow(),
    FullStructuresRow(),
    SmallJobsRow(),
    BatchRow(),
    BadgeRow(),
    ChangeRow(),
    LocalTimeRow(),
    PaceRow(),
    SentinelRow(),
    ReloadRow(),
    ServerClockRow(),
    ClusterRow(),
    ShardRow(),
  ]

  /// Rows whose load can be jobs of one user each.
  private static let smallJobsRows: Set = [1, 3, 4, 5, 10, 11, 12]

  package static var numbers: [Int] { rows.map(\.number) }

  /// Lines that name each row.
  package static var list: [String] {
    rows.map { row in
      let number = String(row.number)
      return String(repeating: " ", count: 2 - number.count) + "\(number)  \(row.fault)"
    }
  }

  /// Runs one row. An error that keeps it from being judged is its failure.
  package static func run(
    _ number: Int, programs: ChaosPrograms, seed: UInt64, scale: Double,
    soakMinutes: Double = ChaosDefaults.soakMinutes, isOfSmallJobs: Bool = false,
    phase: String? = nil, progress: ProgressLine
  ) async -> RowResult? {
    guard let row = rows.first(where: { $0.number == number }) else { return nil }
    let trial = Trial(
      programs: programs, row: number, seed: seed, scale: scale, soakMinutes: soakMinutes,
      isOfSmallJobs: isOfSmallJobs && smallJobsRows.contains(number), phase: phase,
      progress: progress)
    let start = ContinuousClock.now
    var result: RowResult
    do { result = try await row.run(trial) } catch {
      result = RowResult(row.number, row.fault)
      result.fail("could not be judged: \(error)")
    }
    result.seconds = (ContinuousClock.now - start) / .seconds(1)
    return result
  }
}
