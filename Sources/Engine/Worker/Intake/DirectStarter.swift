internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Decides which jobs the lane sends from their entries, as far as it has room for them; loop-bound.
final class DirectStarter {
  private let isOn: Bool
  private let runs: RunTable
  private let dispatcher: Dispatcher
  private let life: LaneLife
  /// Raised when there is room again for those that are waited with.
  private let signal: LoopSignal
  private var isWaited = false
  /// Jobs whose names are asked for while the next ones are taken in, by `JobEntry.source`.
  private var held: [String: JobEntry] = [:]
  /// Those of them that nobody asks for yet.
  private var batches: [Batch] = []
  /// Called when a batch is to be begun by a task of its own, which takes it by `nextBatch`.
  var onBatch: () -> Void = { preconditionFailure("nobody begins what is held") }
  /// Called when a batch could not be begun.
  var onFailure: (RedisError) -> Void = { _ in preconditionFailure("nobody hears of a failure") }

  typealias Batch = [(job: PreparedJob, direct: DirectJob)]

  init(isOn: Bool, runs: RunTable, dispatcher: Dispatcher, life: LaneLife, signal: LoopSignal) {
    self.isOn = isOn
    self.runs = runs
    self.dispatcher = dispatcher
    self.life = life
    self.signal = signal
  }

  /// How many more jobs of any priority it may be given.
  var room: Int { room(for: .low) }

  /// How many more jobs of a priority it may be given.
  func room(for priority: Priority) -> Int {
    guard isOn, !life.isDraining, dispatcher.hasRoom(for: priority) else { return 0 }
    return min(free, WorkerLimits.directTakenMax)
  }

  /// Whether there is a place for one that begins.
  var hasPlace: Bool { runs.freeSlot != nil }

  private var free: Int { runs.freeDirect - held.count }

  /// Whether the lane is full of such jobs: to take others in would only make chunks of them.
  var isFull: Bool {
    isOn && !life.isDraining
      && free < min(WorkerLimits.directRoomMin, runs.count + held.count)
  }

  /// Waits until there is room for some.
  func waitForRoom() async {
    isWaited = true
    await signal.wait(upToMs: WorkerLimits.idleMsMax)
    isWaited = false
  }

  /// A run has ended.
  func noteRoom() {
    if isWaited, !isFull { signal.raise() }
  }

  /// Whether the job is sent from its entry: it is one to few users, to be sent at once, that nothing has happened to before.
  func takes(_ job: PreparedJob, _ entry: JobEntry, _ direct: DirectJob) -> Bool {
    entry.deliveries == 1 && job.segments.count == 1 && job.usersKey == nil && job.index == nil
      && (1...WorkerLimits.directUsersMax).contains(job.recipients)
      && job.deliverAtMs == nil && job.pace == nil && job.content.variablesKey == nil
      && job.content.event == nil && !job.content.raisesBadge && !job.content.tellsOfReceivers
      && !dispatcher.switches.stops(app: job.app, bucket: nil, topic: nil)
      && dispatcher.crowdedMs(direct.claim) == nil
  }

  /// Whether the lane sends the job of this entry already, or is about to.
  func isSending(_ entry: JobEntry) -> Bool {
    runs.isCarrying(entry) || held[entry.source] != nil
  }

  /// Entries of jobs that it sends, or is about to send.
  var inHand: [JobEntry] { runs.directEntries + held.values }

  /// Whether a trip to Redis is long: others are taken in meanwhile.
  var isFar: Bool { dispatcher.isFar }

  /// Has a batch begun by a task of its own, and keeps room for it.
  func hold(_ batch: Batch) {
    for (_, job) in batch { held[job.entry.source] = job.entry }
    batches.append(batch)
    onBatch()
  }

  func nextBatch() -> Batch? { batches.isEmpty ? nil : batches.removeFirst() }

  /// Its jobs have begun, or have not.
  func release(_ batch: Batch) {
    for (_, job) in batch { held[job.entry.source] = nil }
    noteRoom()
  }
}
