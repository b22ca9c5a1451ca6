internal import Model
internal import Store

/// The outcomes of a chunk's recipients since the store was told last, and what the store knows of the chunk;
/// loop-bound. A run puts outcomes in as they are final, and takes all of them out for one settlement.
struct ChunkNews {
  /// Recipients that are done.
  private(set) var recipients = 0
  /// The pushes of these recipients, or one for a recipient without any: what a crash would repeat.
  private(set) var results = 0
  /// All lines that are done.
  private var done: DoneBitmap
  /// The lines that the store knows to be done.
  private var toldDone: DoneBitmap
  private var counts = [OutcomeCounts](
    repeating: OutcomeCounts(), count: Network.allCases.count)
  private var settlement = Settlement()
  /// Lines that the chunk was told to have at its end.
  private(set) var addedLines: [UInt8] = []
  /// How many bytes of them the store is known to have.
  private var confirmedBytes = 0
  private let mayJoin: Bool
  /// Lines for workers that have other credentials, by network and environment.
  private var unrouted = NetworkTable<[UInt8]>(repeating: [])
  private struct Tally {
    var answers = 0
    var misfits = 0
  }

  /// By network and stored environment.
  private var tallies = NetworkTable(repeating: Tally())

  /// - Parameter mayJoin: whether what is tried again may come back with what other chunks left. What kills workers is to take
  ///   nobody else with it.
  init(done: DoneBitmap, mayJoin: Bool = true) {
    self.mayJoin = mayJoin
    self.done = done
    toldDone = self.done
  }

  // MARK: Recipients

  /// A recipient is done.
  /// - Parameter count: its pushes that have an outcome by now.
  mutating func finish(_ recipient: Int, results count: Int) {
    recipients += 1
    results += max(1, count)
    done.insert(recipient)
  }

  /// A recipient is done that never had a push.
  mutating func skip(_ recipient: Int, network: Network?) {
    finish(recipient, results: 0)
    if let network {
      counts[network.index].skipped += 1
    } else {
      settlement.skippedUnread += 1
    }
  }

  /// A recipient is done who is no part of this round of the job.
  mutating func leaveOut(_ recipient: Int) {
    finish(recipient, results: 0)
    settlement.leaveOut()
  }

  /// A user's installations are known, and how many they are.
  mutating func resolveUser(installations: Int) {
    settlement.resolveUser(installations: installations)
  }

  /// The user of this push is done without it: it goes on as a line of its own, behind those of the chunk.
  mutating func keepOpen(_ push: Push) {
    InstallationLine.append(
      network: push.network, environment: push.environment, token: push.token, user: push.user,
      generation: push.generation, attempt: Int(push.attempt) - 1, badge: push.badge,
      to: &settlement.stillOpen)
  }

  // MARK: Outcomes

  /// Counts a push whose decision is an outcome.
  mutating func count(_ push: Push) {
    let network = push.network.index
    switch push.decision {
    case .accepted:
      counts[network].accepted += 1
      if push.isRedirected { relabel(push) }
    case .rejected: counts[network].rejected += 1
    case .expired: counts[network].expired += 1
    case .skipped: counts[network].skipped += 1
    case .failed: counts[network].failed += 1
    case .open, .later, .unrouted, .invalid: preconditionFailure("\(push.decision) is no outcome")
    }
  }

  /// - Parameters:
  ///   - joins: whether it may come back with pushes of other chunks.
  ///   - attempt: how often it was tried.
  mutating func retry(_ push: Push, delayMs: UInt64, joins: Bool, attempt: Int) {
    let isAttempt = attempt >= Int(push.attempt)
    if isAttempt { settlement.retries += 1 }
    // Its own environment has refused what was to be tried in the other one, and was not: to ask it again says nothing new.
    let environment =
      push.isRedirected && !isAttempt ? push.environment.other : push.environment
    let place = residual(delayMs: delayMs, joins: joins && mayJoin)
    InstallationLine.append(
      network: push.network, environment: environment, token: push.token, user: push.user,
      generation: push.generation, attempt: attempt, badge: push.badge,
      to: &settlement.residuals[place].lines)
  }

  /// The place of the lines that are tried again then. There are few such places: most of what fails together waits for as long.
  private mutating func residual(delayMs: UInt64, joins: Bool) -> Int {
    let known = settlement.residuals.firstIndex { $0.delayMs == delayMs && $0.joins == joins }
    if let known { return known }
    settlement.residuals.append(Settlement.Residual(delayMs: delayMs, joins: joins, lines: []))
    return settlement.residuals.count - 1
  }

  /// Leaves a push to another worker, since this one has no credentials for its network in that environment.
  /// - Parameters:
  ///   - environment: where it is to be tried. Another than its own stands in the line: its own one has refused it.
  ///   - attempt: how often it was tried.
  mutating func leave(_ push: Push, for environment: PushEnvironment, attempt: Int) {
    if attempt >= Int(push.attempt) { settlement.retries += 1 }
    InstallationLine.append(
      network: push.network, environment: environment, token: push.token, user: push.user,
      generation: push.generation, attempt: attempt, badge: push.badge,
      to: &unrouted[push.network, environment])
  }

  mutating func invalidate(_ push: Push, reason: String, sinceMs: Int64?) {
    settlement.invalidations.append(
      Settlement.Invalidation(
        network: push.network, environment: push.environment,
        token: String(decoding: push.token, as: UTF8.self),
        user: String(decoding: push.user, as: UTF8.self), generation: push.generation,
        sinceMs: sinceMs, reason: reason))
  }

  private mutating func relabel(_ push: Push) {
    settlement.relabellings.append(
      Settlement.Relabelling(
        network: push.network, token: String(decoding: push.token, as: UTF8.self),
        user: String(decoding: push.user, as: UTF8.self), generation: push.generation,
        environment: push.environment.other))
  }

  /// Whether a settlement takes Redis long enough with the dead tokens that it has.
  var isFullOfDead: Bool {
    settlement.invalidations.count >= WorkerLimits.settledDeadMax
  }

  // MARK: Answers

  /// Notes answers to a push, and those of them that say that it does not fit its environment.
  mutating func tally(_ push: Push, answers: Int = 0, misfits: Int = 0) {
    tallies[push.network, push.environment].answers += answers
    tallies[push.network, push.environment].misfits += misfits
  }

  // MARK: Telling

  /// The lines that the store is known to have added to the chunk.
  var confirmedLines: ArraySlice<UInt8> { addedLines.prefix(confirmedBytes) }

  /// The store has what was last taken.
  mutating func confirm() { confirmedBytes = addedLines.count }

  /// Takes out the settlement that is to be told now; it counts as told.
  mutating func take(isFinal: Bool) -> Settlement {
    var told = settlement
    settlement = Settlement()
    addedLines += told.stillOpen
    told.isFinal = isFinal
    told.done = done
    told.told = toldDone
    toldDone = done
    for network in Network.allCases where !counts[network.index].isZero {
      told.counts[network] = counts[network.index]
      counts[network.index] = OutcomeCounts()
    }
    for network in Network.allCases {
      for environment in PushEnvironment.allCases {
        takeTally(network, environment, &told)
        takeUnrouted(network, environment, &told)
      }
    }
    recipients = 0
    results = 0
    return told
  }

  private mutating func takeUnrouted(
    _ network: Network, _ environment: PushEnvironment, _ told: inout Settlement
  ) {
    let lines = unrouted[network, environment]
    guard !lines.isEmpty else { return }
    told.unrouted.append(
      Settlement.Unrouted(network: network, environment: environment, lines: lines))
    unrouted[network, environment] = []
  }

  private mutating func takeTally(
    _ network: Network, _ environment: PushEnvironment, _ told: inout Settlement
  ) {
    let tally = tallies[network, environment]
    guard tally.answers > 0 || tally.misfits > 0 else { return }
    tallies[network, environment] = Tally()
    told.tallies.append(
      Settlement.Tally(
        network: network, environment: environment, answers: tally.answers, misfits: tally.misfits))
  }
}
