internal import ArgumentParser
internal import Configuration
internal import Model
internal import Operations
internal import Redis

struct JobCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job",
    abstract: "Show a job, or cancel, pause or resume it.",
    discussion: """
        pushpool job spring-sale --app shop
        pushpool job spring-sale pause --app shop

      Cancelling ends a job: what is not sent yet counts as skipped. A paused job keeps its \
      place until it is resumed. Both work also while no worker has taken the job yet: the \
      one that takes it keeps to them. A finished job can be seen for a week.
      """)

  @Argument(help: "The job's id, as enqueue printed it.")
  var id: String

  @Argument(help: "show, cancel, pause or resume.")
  var action: JobAction = .show

  @OptionGroup var appOption: AppOption
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let record = try await record(configuration.redis, app: app)
    JobReport(record: record).show(asJSON: shared.json, on: .standard)
    if action.wasTooLate(record.state), let change = action.refusal {
      throw CommandFailure(.badInput, "job \(record.id) is \(record.state.rawValue): \(change)")
    }
  }

  private func record(
    _ redis: RedisConfiguration, app: String
  ) async throws(CommandFailure) -> JobRecord {
    let (id, action) = (id, action)
    // To see a job that has a record takes no function, and so no right to load any.
    if action == .show {
      let session = try await RedisSession.open(redis, functions: false)
      let record = try await session.run { store throws(RedisError) in
        try await JobControl(app: app, id: id, stores: [store]).recorded()
      }
      await session.close()
      if let record { return record }
    }
    let session = try await RedisSession.open(redis, functions: true)
    let record = try await session.operate { stores throws(OperationError) in
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
    await session.close()
    return record
  }
}
