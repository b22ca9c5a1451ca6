internal import ArgumentParser
internal import Model

/// The root of all commands.
struct PushpoolCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pushpool",
    abstract:
      "Delivers push notifications in batches: Redis in; \(Network.displayNames) out.",
    discussion: """
      Try it:            pushpool demo
      Before it starts:  pushpool doctor --config pushpool.yaml
      Run a worker:      pushpool worker --config pushpool.yaml
      Run the dashboard: pushpool serve
      Bind devices:      pushpool import installations.ndjson
      Send to users:     pushpool enqueue job.json --wait
      See how it goes:   pushpool status
      Stop sending:      pushpool switch off --app shop
      Ask what happened: pushpool trace --job ID --user U

      Exit status: 0 done, 1 the job that was waited for was cancelled, or pushes of it failed, were rejected or expired, or all were skipped, 64 usage, 65 bad input, 69 Redis or a push network is not there, \
      70 a fault of this program or a limit of the machine, 74 a result or file cannot be written, 78 bad configuration, 130 Ctrl-C, \
      143 SIGTERM.
      """,
    version: PushpoolVersion.text,
    groupedSubcommands: [
      CommandGroup(
        name: "Workers",
        subcommands: [
          WorkerCommand.self, ServeCommand.self, CheckCommand.self, DoctorCommand.self,
          StatusCommand.self, TopCommand.self, MetricsCommand.self, SwitchCommand.self,
        ]),
      CommandGroup(name: "Apps", subcommands: [AppCommand.self]),
      CommandGroup(
        name: "Jobs",
        subcommands: [
          EnqueueCommand.self, JobCommand.self, JobsCommand.self, TraceCommand.self,
          DeadCommand.self,
        ]),
      CommandGroup(
        name: "Installations",
        subcommands: [
          InstallCommand.self, UninstallCommand.self, DevicesCommand.self, BadgeCommand.self,
          ImportCommand.self, ExportCommand.self,
        ]),
      CommandGroup(
        name: "Audiences",
        subcommands: [
          SubscribeCommand.self, UnsubscribeCommand.self, TopicsCommand.self, ChannelsCommand.self,
          IndexCommand.self,
        ]),
      CommandGroup(name: "Access", subcommands: [KeysCommand.self, AuditCommand.self]),
      CommandGroup(name: "Trying it", subcommands: [DemoCommand.self]),
    ])
}
