internal import Model
internal import Reactor
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

  init(isOn: Bool, runs: RunTable, dispatcher: Dispatcher, life: LaneLife, signal: LoopSignal) {
    self.isOn = isOn
    self.runs = runs
    self.dispatcher = dispatcher
    self.life = life
    self.signal = signal
  }

  /// How many more jobs it may be given.
  var room: Int {
    guard isOn, !life.isDraining, dispatcher.hasRoom else { return 0 }
    return min(runs.freeDirect, WorkerLimits.directTakenMax)
  }

  /// Whether the lane is full of such jobs: to take others in would only make chunks of them.
  var isFull: Bool {
    isOn && !life.isDraining && runs.freeDirect < min(WorkerLimits.directRoomMin, runs.count)
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

  /// Whether the lane sends the job of this entry already.
  func isSending(_ entry: JobEntry) -> Bool { runs.isCarrying(entry) }

  /// Entries of jobs that it sends.
  var inHand: [JobEntry] { runs.directEntries }
}
