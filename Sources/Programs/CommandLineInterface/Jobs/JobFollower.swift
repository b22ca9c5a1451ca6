package import Model
package import Operations
package import ProgramSetup
internal import Store
internal import Typesetting

/// Shows how an enqueued job goes on until it has ended. A Ctrl-C leaves the job as it is.
package struct JobFollower: Sendable {
  let job: EnqueuedJob
  let session: RedisSession
  let console: Console
  /// The words for the progress at first, and how much there is, as far as that is known.
  let label: String
  let total: Int?

  package init(
    job: EnqueuedJob, session: RedisSession, console: Console, label: String, total: Int?
  ) {
    self.job = job
    self.session = session
    self.console = console
    self.label = label
    self.total = total
  }

  /// - Parameter check: called between looks, to give up for a reason of the caller's.
  package func follow(
    check: @escaping @Sendable () -> CommandFailure? = { nil }
  ) async throws(CommandFailure) -> JobRecord {
    let sighting: JobSighting
    do throws(CommandFailure) {
      sighting = try await watch { check() == nil && !Interrupts.shared.hasCome }
    } catch {
      guard error.status == .interrupted else { throw error }
      throw check() ?? left
    }
    switch sighting {
    case .admitted(let record), .duplicate(let record): return record
    case .refused(let refusal):
      throw CommandFailure(refused: refusal, letter: job.shard.text(of: refusal.letter))
    case .waiting, .gone:
      throw CommandFailure(
        .internalError, "job \(job.id) is neither queued nor recorded: was it deleted in Redis?")
    }
  }

  private func watch(
    goesOn: @escaping @Sendable () -> Bool
  ) async throws(CommandFailure) -> JobSighting {
    try await session.operate(in: .shard(job.shard)) { stores throws(OperationError) in
      let display = ProgressDisplay(label: label, total: total, console: console)
      defer { display.clear() }
      var told = Told()
      return try await JobWatch(job: job, stores: stores).follow(.ofCommands(goesOn)) { sighting in
        show(sighting, on: display, &told)
      } onStandstill: { hindrances in
        for hindrance in told.news(of: hindrances) {
          note(hindrance.sentence(app: job.app, id: job.id), clearing: display)
        }
      }
    }
  }

  /// The things that the person knows by now.
  private struct Told {
    private var hindrances: [JobHindrance] = []
    var isDuplicate = false

    /// Returns the hindrances that were not there at the last time.
    mutating func news(of found: [JobHindrance]) -> [JobHindrance] {
      let known = hindrances
      hindrances = found
      return found.filter { hindrance in !known.contains { $0.isSame(as: hindrance) } }
    }
  }

  private func show(_ sighting: JobSighting, on display: ProgressDisplay, _ told: inout Told) {
    if case .duplicate = sighting, !told.isDuplicate {
      told.isDuplicate = true
      note(job.cameBefore, clearing: display)
    }
    switch sighting {
    case .waiting: display.update(done: 0, label: "waiting for a worker")
    case .admitted(let record), .duplicate(let record):
      let label =
        switch record.state {
        case .running: "sending"
        case .queued: "waiting for a worker"
        default: record.state.rawValue
        }
      display.update(done: record.counts.settled, total: record.total, label: label)
    case .refused, .gone: break
    }
  }

  private func note(_ text: String, clearing display: ProgressDisplay) {
    display.clear()
    console.note(text)
  }

  private var left: CommandFailure {
    CommandFailure(
      .interrupted, "the job goes on; see it with: pushpool job \(job.id) --app \(job.app)")
  }
}

extension EnqueuedJob {
  /// The words for a person who waits for it, and whose job is an earlier one.
  var cameBefore: String {
    "a job \(id) with the same content came before: this is what becomes of it"
  }
}

extension CommandFailure {
  /// Tells of a job that no worker admitted.
  /// - Parameter letter: the text by which its dead letter is asked for.
  init(refused refusal: JobRefusal, letter: String) {
    let field = refusal.field.isEmpty ? "" : "\(refusal.field): "
    let message = DisplayText.printable(field + refusal.message)
    let (reason, letter) = (
      DisplayText.printable(refusal.reason), DisplayText.printable(letter)
    )
    self.init(
      .badInput, "the job was refused (\(reason)): \(message); see: pushpool dead show \(letter)")
  }
}

extension JobHindrance {
  /// Says what a person who waits is told, and what to do about it.
  func sentence(app: String, id: String) -> String {
    switch self {
    case .paused: "the job is paused; to go on: pushpool job \(id) resume --app \(app)"
    case .scheduled(let startAtMs):
      "the job starts at \(InstantText.local(ms: startAtMs)); to stop it: "
        + "pushpool job \(id) cancel --app \(app)"
    case .betweenLocalTimes(let nextMs):
      "the job's next local time is \(InstantText.local(ms: nextMs)); to stop it: "
        + "pushpool job \(id) cancel --app \(app)"
    case .switchedOff(let killSwitch, let remark):
      "\(killSwitch.words) is switched off\(killSwitch.since(remark)); its pushes wait: "
        + "pushpool switch list"
    case .usersSwitchedOff(let app, let count):
      "\(FigureText.count(count)) \(count == 1 ? "user" : "users") of app \(app) "
        + "\(count == 1 ? "is" : "are") switched off, and what is left may be theirs: "
        + "pushpool switch list"
    case .noWorker: "no worker is running, and the job waits for one; start one: pushpool worker"
    case .alarm(_, let message): DisplayText.printable(message)
    }
  }
}
