internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Decides which jobs the lane sends from their entries, as far as it has room for them; loop-bound.
final class DirectStarter {
  private let isOn: Bool
  private let runs: RunTable
  private let sendingRoom: SendingRoom
  private let congestion: RateCongestion
  private let gate: SendingGate
  private let switches: SwitchWatch
  private let life: LaneLife
  /// Raised when there is room again for those that are waited with.
  private let signal: LoopSignal
  private var isWaited = false
  private var held = HeldJobs()
  /// The usual size of the jobs that it was given.
  private var usual = UsualJob()
  /// Called when a batch is to be begun by a task of its own, which takes it by `nextBatch`.
  var onBatch: () -> Void = { preconditionFailure("nobody begins what is held") }
  /// Called when a batch could not be begun.
  var onFailure: (RedisError) -> Void = { _ in preconditionFailure("nobody hears of a failure") }

  typealias Batch = HeldJobs.Batch

  init(
    isOn: Bool, runs: RunTable, room: SendingRoom, congestion: RateCongestion, gate: SendingGate,
    switches: SwitchWatch, life: LaneLife, signal: LoopSignal
  ) {
    self.isOn = isOn
    self.runs = runs
    sendingRoom = room
    self.congestion = congestion
    self.gate = gate
    self.switches = switches
    self.life = life
    self.signal = signal
  }

  /// How much it may be given now.
  var room: DirectRoom {
    let takenMax = isFar ? WorkerLimits.farDirectTakenMax : WorkerLimits.directTakenMax
    let jobs = isOn && !life.isDraining ? max(0, min(free, takenMax)) : 0
    let waiting = Priority.allCases.map { priority in
      sendingRoom.waiting(upTo: priority) + sendingRoom.unresolvedDirect(for: priority)
        + held.users(upTo: priority)
    }
    return DirectRoom(
      jobs: jobs, waiting: waiting, backlogMax: sendingRoom.directBacklogMax,
      isSlow: sendingRoom.isSlow)
  }

  /// How many jobs of a priority and higher ones to take in: as many as there is room for, when they are like those before.
  func jobsWanted(downTo last: Priority) -> Int {
    let room = room
    // Without room a few: only then does it show whose they are.
    let few = room.isSlow ? 0 : WorkerLimits.directPushesMin
    let pushes = max(room.backlogMax - room.waiting(upTo: last), few)
    return max(
      WorkerLimits.admissionsMax, min(room.jobs, Int(Double(pushes) / usual.pushes)))
  }

  /// A job has begun, and has its pushes.
  func noteResolved(_ run: PushRun) {
    usual.note(users: run.lines.count, pushes: run.pushes.count)
  }

  /// Whether there is a place for one that begins.
  var hasPlace: Bool { runs.freeSlot != nil }

  private var free: Int {
    let max = isFar ? WorkerLimits.farDirectRunsMax : WorkerLimits.directRunsMax
    return runs.freeDirect(of: max) - held.count
  }

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

  /// Whether there is room for any, and none that has begun waits for it.
  var isOpen: Bool { !areAnyWaiting && lowestWanted == .low }

  /// The lowest priority to take in now; nil for none. For others there will soon be room. A lane that sends little takes all in:
  /// others may have room for the chunks that it makes of them.
  var lowestWanted: Priority? {
    let room = room
    guard isOn, !life.isDraining, !room.isSlow else { return .low }
    return Priority.allCases.last {
      room.waiting(upTo: $0) <= room.backlogMax - room.backlogMax / 8
    }
  }

  /// Whether some have begun and wait for room.
  var areAnyWaiting: Bool { sendingRoom.unresolvedDirect(for: .low) > 0 }

  /// Goes on with those that wait and have room now, high priority first.
  func wakeWaiting() {
    let (backlogMax, mayHaveMore) = (sendingRoom.directBacklogMax, sendingRoom.mayHaveMore)
    for priority in Priority.allCases {
      var room = backlogMax - sendingRoom.waiting(upTo: priority)
      runs.forEachDirect { direct in
        guard room > 0, direct.run.wantsResolving, direct.priority == priority,
          sendingRoom.hasRoom(for: direct, mayHaveMore: mayHaveMore)
        else { return }
        room -= direct.run.lines.count
        direct.run.wake()
      }
    }
  }

  /// Waits until half of what waits has left, or not for so long.
  func pause() async {
    let halfMs =
      UInt64(sendingRoom.waiting(upTo: .low)) * WorkerLimits.directSpanMs
      / UInt64(max(1, sendingRoom.leaving))
    await signal.wait(upToMs: min(1 + halfMs, WorkerLimits.directPauseMs))
  }

  /// A run has ended.
  func noteRoom() {
    if isWaited, !isFull { signal.raise() }
  }

  /// Whether the job is sent from its entry: it may be, and there is room for it, which it takes.
  func takes(_ job: PreparedJob, _ direct: DirectJob, _ room: inout DirectRoom) -> Bool {
    let mayTake = mayTake(job, direct)
    // What becomes a chunk takes no room here.
    usual.note(users: mayTake ? job.recipients : 1)
    guard mayTake else { return false }
    if let max = congestion.directJobsMax[job.app] {
      let others = room.jobs(of: job.app) { inHand(of: job.app) }
      guard others < max else { return false }
    }
    return room.take(users: job.recipients, direct.entry.priority, app: job.app)
  }

  /// Counts what it has in hand of an app: jobs that it sends or is about to send, and chunks.
  private func inHand(of app: String) -> Int {
    var count = held.count(of: app)
    runs.forEach { if $0.claim.app == app { count += 1 } }
    return count
  }

  /// Whether it is one to few users, to be sent at once, that nothing has happened to before.
  private func mayTake(_ job: PreparedJob, _ direct: DirectJob) -> Bool {
    direct.entry.deliveries == 1
      && job.segments.count == 1 && job.usersKey == nil && job.index == nil
      && (1...WorkerLimits.directUsersMax).contains(job.recipients)
      && job.deliverAtMs == nil && job.pace == nil && job.content.variablesKey == nil
      && job.content.event == nil && !job.content.raisesBadge && !job.content.tellsOfReceivers
      // Others may know what is off: as a chunk they can have it.
      && !switches.isBlind && !gate.switches.stops(app: job.app, bucket: nil, topic: nil)
      && congestion.crowdedMs(direct.claim) == nil
  }

  /// Whether the lane sends the job of this entry already, or is about to.
  func isSending(_ entry: JobEntry) -> Bool {
    runs.isCarrying(entry) || held.has(entry)
  }

  /// Entries of jobs that it sends, or is about to send.
  var inHand: [JobEntry] { runs.directEntries + held.entries }

  /// Whether a trip to Redis is long: others are taken in meanwhile. It is as it was when jobs were asked for, so that those find
  /// the room that was meant for them.
  private(set) var isFar = false

  /// Finds out how far Redis is, before jobs are asked for.
  func lookHowFar() { isFar = sendingRoom.isFar }

  /// Has a batch begun by a task of its own, and keeps room for it.
  func hold(_ batch: Batch) {
    held.add(batch)
    onBatch()
  }

  func nextBatch() -> Batch? { held.nextBatch() }

  /// Lets go of a batch whose jobs have begun, or have not.
  func release(_ batch: Batch) {
    held.remove(batch)
    noteRoom()
  }
}
