internal import ArgumentParser
internal import Configuration
internal import Model
internal import Redis
internal import Store

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
      place until it is resumed. A finished job can be seen for a week.
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
    let session = try await RedisSession.open(configuration.redis, functions: action != .show)
    let (id, action) = (id, action)
    let isKnown = try await session.run { store throws(RedisError) in
      switch action {
      case .show: true
      case .cancel: try await store.jobs.cancel(app: app, id: id) != nil
      case .pause: try await store.jobs.pause(app: app, id: id) != nil
      case .resume: try await store.jobs.resume(app: app, id: id) != nil
      }
    }
    let record = try await session.run { store throws(RedisError) in
      try await store.jobs.record(app: app, id: id)
    }
    await session.close()
    guard isKnown, let record else {
      throw CommandFailure.unknownJob(id, app: app)
    }
    JobReport(record: record).show(asJSON: shared.json, on: .standard)
    if let change = Self.missed(action, record.state) {
      throw CommandFailure(.badInput, "job \(record.id) is \(record.state.rawValue): \(change)")
    }
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
