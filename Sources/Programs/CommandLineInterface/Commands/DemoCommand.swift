internal import ArgumentParser
internal import LocalServices
internal import Model
internal import ProgramSetup

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Send a campaign from Redis to simulated push networks on this machine.",
    discussion: """
      Starts a redis-server, simulated push networks and a worker, installs devices, sends one \
      campaign and shows what became of it. Some devices are gone (they are uninstalled), some \
      pushes meet a busy network (they are retried). Nothing of it stays, also after Ctrl-C.

        pushpool demo
        pushpool demo --installations 200000 --users 100000
        pushpool demo --keep
      """)

  @Option(help: "How many devices.") var installations = 10_000
  @Option(help: "How many users own them.") var users = 6_000
  @Flag(help: "Leave everything running afterwards, until Ctrl-C.") var keep = false
  @Flag(help: "Print the result as JSON, for programs.") var json = false

  func validate() throws {
    guard (1...CommandLineLimits.demoInstallationsMax).contains(installations) else {
      throw ValidationError(
        "--installations must be from 1 to \(CommandLineLimits.demoInstallationsMax).")
    }
    guard (1...Limits.usersPerJobMax / 2).contains(users) else {
      throw ValidationError("--users must be from 1 to \(Limits.usersPerJobMax / 2).")
    }
    guard installations / users < Limits.installationsPerUserMax else {
      throw ValidationError(
        "--users must be more: a user has at most \(Limits.installationsPerUserMax) installations.")
    }
  }

  func run() async throws {
    let console = Console.standard
    Interrupts.shared.expect()
    do {
      try await Demo.with(
        DemoCampaign(installations: installations, users: users), console: console
      ) { demo in try await campaign(demo, console) }
    } catch {
      throw Self.failure(error)
    }
    if !json { console.print(text: DemoReport.nextCommands) }
  }

  private func campaign(_ demo: Demo, _ console: Console) async throws {
    try await demo.importInstallations()
    try demo.startWorker()
    let record = try await demo.send()
    let report = DemoReport(record: record, counters: try await demo.counters())
    if json {
      console.print(json: report.json())
    } else {
      for line in report.lines(on: console.output) { console.print(line) }
    }
    guard keep else { return }
    console.note(text: DemoReport.visit(demo.redisURL, user: demo.reachedUser))
    await demo.keep()
  }

  private static func failure(_ error: any Error) -> CommandFailure {
    switch error {
    case let failure as CommandFailure where failure.status == .interrupted:
      CommandFailure(.interrupted, "interrupted; nothing of the demo is left")
    case let failure as CommandFailure: failure
    case let failure as LocalServiceError: CommandFailure(.unavailable, failure.description)
    default: CommandFailure(.internalError, "\(error)")
    }
  }
}
