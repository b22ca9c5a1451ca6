internal import ArgumentParser
internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct JobsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs",
    abstract: "List the jobs that run, are paused or wait for their time, and the last that ended.",
    discussion: """
        pushpool jobs
        pushpool jobs --app shop --ended 50 --json

      The time left is what a running job needs at the pace that it has had. Jobs that no worker has \
      taken in yet are not listed: pushpool status counts them.
      """)

  @Option(help: "Only the jobs of this app.") var app: String?
  @Option(help: "How many of those that ended to list.") var ended = 10
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard (0...OperationsLimits.listedJobsMax).contains(ended) else {
      throw ValidationError("--ended must be from 0 to \(OperationsLimits.listedJobsMax)")
    }
    if let app {
      do throws(InvalidField) { try TextRule.checkApp(app) } catch {
        throw ValidationError("--app \(error.message)")
      }
    }
  }

  func run() async throws {
    let configuration = try shared.configurationInTrouble()
    let session = try await RedisSession.open(configuration, as: .dashboard)
    let (app, ended) = (app, ended)
    let list = try await session.look(of: app, on: .standard) { stores throws(RedisError) in
      try await JobList.read(stores, app: app, endedMax: ended)
    }
    await session.close()
    JobListReport(list: list, nowMs: InstantText.nowMs()).show(
      asJSON: shared.json, on: .standard)
  }
}
