internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct JobCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job",
    abstract: "Show a job, cancel, pause or resume it, or set its pace or its start.",
    discussion: """
        pushpool job spring-sale --app shop
        pushpool job spring-sale --app shop --content
        pushpool job spring-sale pause --app shop
        pushpool job spring-sale pace 500 --app shop
        pushpool job spring-sale at 2026-12-01T09:00:00+01:00 --app shop

      Cancelling ends a job: what is not sent yet counts as skipped. A paused job keeps its \
      place until it is resumed. Both work also while no worker has taken the job yet: the \
      one that takes it keeps to them.

      A pace is a number of pushes a second, of the whole fleet; off ends it. It holds for what \
      workers take up from now on, and at once for a job that has a pace already.

      A job that waits for its start can be told another one: an instant, or now. What it says \
      cannot be changed: cancel it, and enqueue the other text under another id.

      A finished job can be seen for a time: by default a week if it went to many users or did not \
      end well, a day if it went to few, and an hour if it had no id. A job that was refused can be \
      seen for a week: the command says why, and ends with 65.
      """)

  @Argument(help: "The job's id, as enqueue printed it.")
  var id: String

  @Argument(help: "show, cancel, pause, resume, pace or at.")
  var action: JobVerb = .show

  @Argument(
    help: "Pushes a second, or off: behind pace. An instant, or now: behind at.")
  var value: String?

  @Flag(help: "Also show what the job says, and to whom it goes.")
  var content = false

  @OptionGroup var appOption: AppOption
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard !content || action == .show else {
      throw ValidationError("--content goes with show alone.")
    }
    _ = try action.action(value)
  }

  func run() async throws {
    let verb = action
    let action = try verb.action(value)
    let configuration = try shared.configurationInTrouble()
    let app = try appOption.resolve(configuration)
    let record = try await record(configuration, app: app, action)
    var report = JobReport(record: record)
    if content { report.sheet = try await sheet(of: record, configuration) }
    if action == .show, !record.state.isFinal {
      report.hindrances = try await hindrances(of: record, configuration)
    }
    report.show(asJSON: shared.json, on: .standard.with(.isIgnored))
    if let refusal = record.refusal {
      throw CommandFailure(refused: refusal, letter: record.letterText)
    }
    if action.wasTooLate(record.state), let change = verb.refusal {
      throw CommandFailure(.badInput, "job \(record.id) is \(record.state.rawValue): \(change)")
    }
  }

  private func sheet(
    of record: JobRecord, _ configuration: Configuration
  ) async throws(CommandFailure) -> JobSheet {
    let session = try await RedisSession.open(configuration, as: .dashboard)
    let sheet = try await session.ask(
      in: .app(record.app), about: [.job(app: record.app, id: record.id)]
    ) {
      stores throws(RedisError) in
      try await JobSheet.read(record, in: stores)
    }
    await session.close()
    return sheet
  }

  /// Nil where the user may not read what the fleet tells: the job is shown all the same.
  private func hindrances(
    of record: JobRecord, _ configuration: Configuration
  ) async throws(CommandFailure) -> [JobHindrance]? {
    let session = try await RedisSession.open(configuration, as: .dashboard)
    let found = try await session.run(in: .app(record.app)) {
      store throws(RedisError) -> [JobHindrance]? in
      do throws(RedisError) {
        return try await JobHindrance.all(of: record.app, record, in: [store])
      } catch {
        guard case .server = error else { throw error }
        return nil
      }
    }
    await session.close()
    return found
  }

  private func record(
    _ configuration: Configuration, app: String, _ action: JobAction
  ) async throws(CommandFailure) -> JobRecord {
    let id = id
    // To see a job that has a record takes no function, and so no right to load any.
    if action == .show {
      let session = try await RedisSession.open(configuration, as: .dashboard)
      let record = try await session.ask(in: .app(app), about: [.job(app: app, id: id)]) {
        stores throws(RedisError) in
        try await JobControl(app: app, id: id, stores: stores).recorded()
      }
      await session.close()
      if let record { return record }
    }
    let session =
      action == .show
      ? try await RedisSession.open(configuration, as: .reader)
      : try await RedisSession.open(configuration, as: .operator)
    let record = try await session.operate(in: .app(app), about: [.job(app: app, id: id)]) {
      stores throws(OperationError) in
      var display: ProgressDisplay?
      defer { display?.clear() }
      return try await JobControl(app: app, id: id, stores: stores).perform(
        action, nowMs: InstantText.nowMs(), patience: .ofCommands()
      ) { looked in
        if looked > 0 {
          display?.update(done: looked)
        } else {
          // From now on a Ctrl-C ends the search.
          Interrupts.shared.expect()
          display?.clear()
          display = ProgressDisplay(label: "looking through the jobs that wait", total: nil)
        }
      }
    }
    if let act = action.act(on: record) { await session.note([act], on: .standard) }
    await session.close()
    return record
  }
}

extension JobAction {
  /// The act for the list of acts; nil when nothing was changed.
  fileprivate func act(on record: JobRecord) -> Act? {
    guard !wasTooLate(record.state) else { return nil }
    let (verb, detail): (String, String)
    switch self {
    case .show: return nil
    case .cancel: (verb, detail) = ("job.cancel", "")
    case .pause: (verb, detail) = ("job.pause", "")
    case .resume: (verb, detail) = ("job.resume", "")
    case .pace(let perSecond): (verb, detail) = ("job.pace", perSecond.map(String.init) ?? "off")
    case .reschedule(let atMs):
      (verb, detail) = ("job.reschedule", atMs.map { InstantText.rfc3339(ms: $0) } ?? "now")
    }
    return Act(verb, app: record.app, subject: record.id, detail: detail)
  }
}
