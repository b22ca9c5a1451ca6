internal import ArgumentParser
internal import CommandLineInterface
internal import LocalServices
internal import Model
internal import ProgramSetup

/// The program `pushpool-demo`, which `pushpool demo` becomes.
package enum DemoProgram {
  /// Runs the demo. Call it first thing in `main`, on the main thread.
  package static func main() -> Never { Program.main(DemoProgramCommand.self) }
}

/// The command line of the program.
struct DemoProgramCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pushpool-demo",
    abstract: "Sends a campaign from Redis to simulated push networks on this machine.",
    discussion: """
        pushpool-demo
        pushpool-demo --installations 200000 --users 100000
        pushpool-demo --keep

      pushpool demo starts this program, and pushpool demo --help explains it.
      """,
    version: PushpoolVersion.text)

  @OptionGroup var options: DemoOptions

  func run() async throws {
    let console = Console.standard
    Interrupts.shared.expect()
    do {
      try await Demo.with(
        DemoCampaign(installations: options.installations, users: options.users), console: console
      ) { demo in try await campaign(demo, console) }
    } catch {
      throw Self.failure(error)
    }
    if !options.json { console.print(text: DemoReport.nextCommands) }
  }

  private func campaign(_ demo: Demo, _ console: Console) async throws {
    try await demo.importInstallations()
    try demo.startWorker()
    let record = try await demo.send()
    let report = DemoReport(record: record, counters: try await demo.counters())
    if options.json {
      console.print(json: report.json())
    } else {
      for line in report.lines(on: console.output) { console.print(line) }
    }
    guard options.keep else { return }
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
