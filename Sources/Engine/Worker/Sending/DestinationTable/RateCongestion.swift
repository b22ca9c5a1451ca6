internal import Model
internal import Providers
internal import Store

/// Who waits for the rates that the fleet keeps to, and is not to hold up those who need not; loop-bound.
final class RateCongestion {
  private let runs: RunTable
  private let destinations: DestinationTable
  private let rates: RateTable
  /// By app: how many of its jobs the lane may have in hand when it begins another one from its entry; those without a low rate
  /// are missing. More would wait, become chunks of the lane, and leave others no place.
  private(set) var directJobsMax: [String: Int] = [:]

  init(
    runs: RunTable, destinations: DestinationTable, rates: RateTable, directory: ProviderDirectory
  ) {
    self.runs = runs
    self.destinations = destinations
    self.rates = rates
    use(directory)
  }

  /// Goes by the rates of this directory from now on.
  func use(_ directory: ProviderDirectory) {
    // As many jobs as the fastest of an app's networks lets pass pushes in that time.
    directJobsMax = directory.perSecondMax.compactMapValues { perSecond in
      guard perSecond < WorkerLimits.limitedDirectRateMax else { return nil }
      let jobs = Int(perSecond * Double(WorkerLimits.limitedDirectMs) / 1_000)
      return min(max(jobs, WorkerLimits.limitedDirectMin), WorkerLimits.limitedDirectMax)
    }
  }

  /// Whether the next recipients of a run would only wait for a rate: then they are not resolved yet.
  func isCongested(_ run: PushRun) -> Bool {
    guard !rates.isEmpty, run.wantsResolving else { return false }
    let line = run.lines(of: run.cursor) == .installations ? run.lines[run.cursor] : nil
    return congestion(run.claim.app, rank: run.claim.priority.rank, line: line) != nil
  }

  /// For how long a claimed chunk is handed back because as many as a lane may hold wait for the same rate; nil
  /// when it may be carried.
  func crowdedMs(_ claim: ChunkClaim) -> UInt64? {
    guard !rates.isEmpty else { return nil }
    let rank = claim.priority.rank
    func own() -> [PushRun] {
      runs.all.filter {
        $0.claim.app == claim.app && $0.claim.priority.rank <= rank && !runs.isLingering($0)
      }
    }
    // Many small jobs take places long before their pushes make a long queue; some places are always kept for
    // apps that wait for no rate, and of the others some for high priority.
    if let allowance = dryAllowance(of: claim.app),
      own().count >= Self.placesMax(allowance) || dryRuns >= Self.dryRunsMax(rank: rank)
    {
      return allowance.delayMs(
        for: destinations.waiting(for: allowance), atLeastMs: WorkerLimits.limitedPlaceDelayMsMin)
    }
    let allowance = claim.recipients.withUnsafeBytes { bytes in
      congestion(claim.app, rank: rank, line: claim.lines == .installations ? bytes : nil)
    }
    guard let allowance else { return nil }
    let waiting = own().filter { isCongested($0) }
    guard waiting.count >= WorkerLimits.limitedRunsMax else { return nil }
    return allowance.delayMs(for: waiting.reduce(0) { $0 + $1.lines.count - $1.cursor })
  }

  /// A rate that pushes of an app wait for.
  private func dryAllowance(of app: String) -> RateAllowance? {
    if let allowance = rates.allowance(ofApp: app), allowance.available == 0,
      destinations.waiting(for: allowance) > 0
    {
      return allowance
    }
    return destinations.used(by: app).first { $0.isStarved }?.limits.last
  }

  /// Runs of apps that wait for a rate.
  private var dryRuns: Int {
    runs.all.count { !runs.isLingering($0) && dryAllowance(of: $0.claim.app) != nil }
  }

  private static func dryRunsMax(rank: Int) -> Int {
    rank == 0 ? WorkerLimits.runsMax * 7 / 8 : WorkerLimits.runsMax * 3 / 4
  }

  /// An app that waits as a whole needs fewer places than one whose other networks go on.
  private static func placesMax(_ allowance: RateAllowance) -> Int {
    allowance.limit.isOfApp ? WorkerLimits.runsMax / 4 : WorkerLimits.runsMax / 2
  }

  /// The rate that the recipients of an app wait for: its own, or that of the network whose installations they
  /// are. Users may have other networks to go to.
  private func congestion(
    _ app: String, rank: Int, line: UnsafeRawBufferPointer?
  ) -> RateAllowance? {
    if let allowance = rates.allowance(ofApp: app) {
      let waiting = allowance.destinations.reduce(0) {
        $0 + (destinations[$1]?.queued(upTo: rank) ?? 0)
      }
      if allowance.available == 0 && waiting >= allowance.queueMax { return allowance }
    }
    guard let line, let network = Network.allCases.first(where: { Self.isFor($0, line) }) else {
      return nil
    }
    // A line does not always say which environment it is for.
    let places = destinations.used(by: app, network).filter { $0.queued > 0 }
    guard places.allSatisfy({ $0.isCongested(rank: rank) }) else { return nil }
    return places.last?.limits.last
  }

  private static func isFor(_ network: Network, _ line: UnsafeRawBufferPointer) -> Bool {
    let name = network.rawValue.utf8
    return line.count > name.count && line.prefix(name.count).elementsEqual(name)
      && line[line.startIndex + name.count] == UInt8(ascii: "\t")
  }
}
