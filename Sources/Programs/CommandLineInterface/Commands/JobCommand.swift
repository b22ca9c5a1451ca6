internal import ArgumentParser
internal import Configuration
internal import Model

struct JobCommand: AsyncParsableCommand {
  /// What to do with the job.
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case show, cancel, pause, resume
  }

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
  var action: Action = .show

  @OptionGroup var appOption: AppOption
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let record = try await record(configuration.redis, app: app)
    JobReport(record: record).show(asJSON: shared.json, on: .standard)
    if let change = Self.missed(action, record.state) {
      throw CommandFailure(.badInput, "job \(record.id) is \(record.state.rawValue): \(change)")
    }
  }

  private func record(
    _ redis: RedisConfiguration, app: String
  ) async throws(CommandFailure) -> JobRecord {
    // To see a job that has a record takes no function, and so no right to load any.
    if action == .show {
      let session = try await RedisSession.open(redis, functions: false)
      let record = try await JobControl(app: app, id: id, session: session).recorded()
      await session.close()
      if let record { return record }
    }
    let session = try await RedisSession.open(redis, functions: true)
    let record = try await JobControl(app: app, id: id, session: session).perform(action)
    await session.close()
    return record
  }

  /// Why the action did not take place; nil when it did.
  private static func missed(_ action: Action, _ state: JobState) -> String? {
    switch action {
    case .cancel where state == .done: "it cannot be cancelled any more"
    case .pause where state.isFinal: "it cannot be paused any more"
    case .resume where state.isFinal: "it cannot be resumed any more"
    default: nil
    }
  }
}
