internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Store

/// The destinations of a lane, each found by the number of its entry and made when it is first used; loop-bound. A lane uses few of the thousands that there may be.
final class DestinationTable: RateAllowanceOwner {
  private let loop: EventLoop
  private let runs: RunTable
  private var directory: ProviderDirectory
  private let settings: ConnectionSettings
  private let rates: RateTable
  private let reasons: ReasonLog
  private let log: Logger
  /// By number.
  private var made: [Destination?]
  /// The entries of former directories.
  private var retired = RetiredEntries()
  /// Destinations that were closed in the beat before. Their transports may look for them until the turn ends.
  private var closed: [Destination] = []
  /// The destinations where pushes wait, and some where none do any more: there may be thousands besides.
  private var waiting: [Destination] = []
  /// Who sends their pushes and hears the answers; there before the first of them is used. Not weak: that would make each use of
  /// it by a destination dearer.
  unowned var owner: (any DestinationOwner<Destination>)?
  /// Called when a destination is first used, to have its credential looked after.
  var onNewDestination: ((Int) -> Void)?

  init(
    loop: EventLoop, runs: RunTable, directory: ProviderDirectory, settings: ConnectionSettings,
    rates: RateTable, reasons: ReasonLog, log: Logger
  ) {
    self.loop = loop
    self.runs = runs
    self.directory = directory
    self.settings = settings
    self.rates = rates
    self.reasons = reasons
    self.log = log
    made = Array(repeating: nil, count: directory.numbersEnd)
  }

  // MARK: One of them

  /// The destination of this number if it has been used before.
  subscript(number: Int) -> Destination? { made[number] }

  /// The destination of this number.
  func destination(_ number: Int) -> Destination { made[number] ?? make(number) }

  private func make(_ number: Int) -> Destination {
    guard let owner else { preconditionFailure("nobody sends the pushes of destinations") }
    let current = directory.entry(number)
    guard let entry = current ?? retired[number] else {
      preconditionFailure("a push goes to a destination that never was")
    }
    let destination = Destination(
      entry: entry,
      limits: current == nil
        ? []
        : entry.limits.map {
          rates.allowance(of: $0, app: entry.app, for: number, owner: self)
        },
      settings: settings.clientSettings(entry.provider.destination), loop: loop,
      journal: DestinationJournal(of: entry, reasons: reasons, log: log), owner: owner)
    made[number] = destination
    // A push found its target before the entry went: it comes back, and finds another.
    if current == nil { destination.retire() } else { onNewDestination?(number) }
    return destination
  }

  /// The number of an app's destination; nil where this worker has no credentials for it.
  func number(app: String, network: Network, environment: PushEnvironment) -> Int? {
    directory.number(app: app, network: network, environment: environment)
  }

  /// Where the pushes of a run go.
  func targets(_ run: PushRun) -> JobTargets {
    JobTargets(app: run.claim.app, content: run.material.content, directory: directory)
  }

  // MARK: Some of them

  /// The destinations that have been used.
  var used: [Destination] { made.compactMap { $0 } }

  /// The destinations of an app, or of an app and network, that have been used.
  func used(by app: String, _ network: Network? = nil) -> [Destination] {
    directory.numbers(app: app).compactMap { number in
      guard let destination = made[number] else { return nil }
      return network == nil || destination.network == network ? destination : nil
    }
  }

  /// For how long each push of a chunk is to be put aside, whichever of its job's destinations it goes to; nil when one of
  /// them takes it now.
  func parkDelayMs(of claim: ChunkClaim, _ content: JobContent) -> UInt64? {
    var soonest: (delayMs: UInt64, of: Destination)?
    for number in directory.numbers(app: claim.app, for: content) {
      guard let destination = made[number],
        let delayMs = destination.parkDelayMs(rank: claim.priority.rank)
          ?? destination.heldMs(claim.job)
      else { return nil }
      if delayMs < soonest?.delayMs ?? .max { soonest = (delayMs, destination) }
    }
    return soonest.map { $0.of.returnMs(atLeast: $0.delayMs) }
  }

  // MARK: Another directory

  /// Goes by another directory from now on. What it has no more is sent to no more: its pushes that wait come back, to go
  /// where they belong then. Connections of what it has, too, stay, though its rates may be others.
  func use(_ next: ProviderDirectory) {
    let gone = directory.entries(missingIn: next)
    directory = next
    while made.count < next.numbersEnd { made.append(nil) }
    for entry in gone {
      if let destination = made[entry.number] { rates.disregard(destination) }
    }
    for destination in made {
      guard let destination, !destination.limits.isEmpty,
        let entry = next.entry(destination.number)
      else { continue }
      for limit in entry.limits { rates.note(limit, for: destination.number) }
    }
    guard !gone.isEmpty else { return }
    retired.add(gone, during: runs.all)
    for entry in gone { made[entry.number]?.retire() }
  }

  /// Lets go of what former directories had and nobody goes by any more.
  private func dropRetired() {
    for number in retired.unused {
      if let destination = made[number] {
        guard destination.inFlight == 0, !destination.hasWaiting else { continue }
        destination.close()
        closed.append(destination)
        rates.leave(destination)
        made[number] = nil
      }
      retired.remove(number)
    }
  }

  // MARK: Where pushes wait

  /// Remembers that pushes wait in a destination.
  func list(_ destination: Destination) {
    guard !destination.isListed else { return }
    destination.isListed = true
    waiting.append(destination)
  }

  /// Sends what was queued, at the end of this turn.
  func wake() {
    waiting.removeAll { destination in
      guard !destination.hasWaiting else { return false }
      destination.isListed = false
      return true
    }
    for destination in waiting { destination.wake() }
  }

  /// The pushes that are sent no later than those of a rank. Pushes that wait for a rate or a connection do not count: they are
  /// bounded by themselves.
  func crowd(upTo rank: Int) -> Int {
    waiting.reduce(0) { $0 + ($1.keepsToItself ? 0 : $1.crowd(upTo: rank)) }
  }

  /// The pushes among them that wait where nothing connects or nothing is answered.
  func queuedSilent(upTo rank: Int) -> Int {
    waiting.reduce(0) { $0 + ($1.isSilent ? $1.queued(upTo: rank) : 0) }
  }

  /// Keeps in the queues only what is still to be sent.
  func filterQueues(_ isKept: (PushTag) -> Bool) {
    for destination in made { destination?.filterQueue { isKept(PushTag($0)) } }
  }

  // MARK: All of them

  /// Requests that were submitted and not answered.
  var inFlight: Int { made.reduce(0) { $0 + ($1?.inFlight ?? 0) } }
  var connections: Int { made.reduce(0) { $0 + ($1?.readyConnections ?? 0) } }

  /// The figures of their connections, by network.
  var figures: [Network: WorkerFigures.Connections] {
    var figures: [Network: WorkerFigures.Connections] = [:]
    for destination in made {
      guard let destination else { continue }
      figures[destination.network, default: WorkerFigures.Connections()] += destination.figures
    }
    return figures
  }

  func checkReachable() {
    for destination in made { destination?.checkReachable() }
    closed.removeAll()
    if !retired.isEmpty { dropRetired() }
  }

  func close() {
    for destination in made { destination?.close() }
    rates.close()
  }

  // MARK: Their rates

  func waiting(for allowance: RateAllowance) -> Int {
    allowance.destinations.reduce(0) { $0 + (made[$1]?.queuedInAll ?? 0) }
  }

  func allowance(_ allowance: RateAllowance, asksFor count: Int) {
    rates.onAsked?(allowance.limit.name, count)
  }

  func allowanceWasFilled(_ allowance: RateAllowance) {
    for number in allowance.destinations { made[number]?.wake() }
  }
}
