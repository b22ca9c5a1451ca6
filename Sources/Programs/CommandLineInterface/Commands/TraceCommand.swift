internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct TraceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace",
    abstract:
      "Show what happened to a job's pushes: to one user's, to one token's, or on the whole.",
    discussion: """
        pushpool trace --app shop --job spring-sale --user u1
        pushpool trace --app shop --job spring-sale --token 00ff…
        pushpool trace --app shop --job spring-sale   # counts, and the last events

      A trace records everything except a plain accept at the first attempt. With "trace": true in \
      the job it records everything. A trace keeps the last 8 MiB of a job's events, until 48 hours \
      after the last event.
      """)

  @OptionGroup var appOption: AppOption
  @Option(help: "The job's id, as enqueue printed it.") var job: String
  @Option(help: "Only this user's.") var user: String?
  @Option(help: "Only this device token's.") var token: String?
  @Option(help: "How many of the last events are shown (default: 100; 20 for a whole job).")
  var limit: Int?
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard user == nil || token == nil else {
      throw ValidationError("--user and --token exclude each other: give one.")
    }
    guard limit.map({ (1...OperationsLimits.traceEventsMax).contains($0) }) ?? true else {
      throw ValidationError("--limit must be from 1 to \(OperationsLimits.traceEventsMax).")
    }
  }

  func run() async throws {
    let subject = try subject()
    let configuration = try shared.configurationInTrouble()
    let app = try appOption.resolve(configuration)
    let session = try await RedisSession.open(
      configuration, as: user == nil && token == nil ? .dashboard : .reader)
    let id = job
    let traced = try await session.ask(in: .app(app), about: [.job(app: app, id: id)]) {
      stores throws(RedisError) in
      try await TracedJob.find(
        subject, app: app, job: id, nowMs: InstantText.nowMs(), in: stores)
    }
    await session.close()
    guard let traced else {
      throw CommandFailure(.unknownJob(id, app: app, or: "not taken by a worker yet"))
    }
    let isSummary = user == nil && token == nil
    let report = TraceReport(
      job: traced,
      limit: limit
        ?? (isSummary ? CommandLineLimits.traceSummaryEvents : CommandLineLimits.traceEvents))
    let console = Console.standard
    if shared.json { return console.print(json: traced.json(limit: report.limit)) }
    for line in report.lines(on: console.output) { console.print(line) }
  }

  /// Returns what was typed, checked.
  private func subject() throws(CommandFailure) -> TraceSubject {
    if let user {
      do throws(InvalidField) { return try TraceSubject(user: user) } catch {
        throw CommandFailure(.badInput, "--user \(error.message)")
      }
    }
    guard let token else { return .everybody }
    do throws(InvalidField) { return try TraceSubject(token: token) } catch {
      throw TokenOption.failure(error)
    }
  }
}
