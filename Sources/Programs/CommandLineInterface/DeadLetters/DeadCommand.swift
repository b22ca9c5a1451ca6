internal import ArgumentParser

struct DeadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead",
    abstract: "Look after the dead letters: what was given up on.",
    discussion: """
      A job that breaks a rule, or work that brought down several workers, ends here with its \
      reason. Nothing leaves but by retry or drop.

        pushpool dead list
        pushpool dead show 1790000000000-0
        pushpool dead retry 1790000000000-0
        pushpool dead drop --all
      """,
    subcommands: [
      DeadListCommand.self, DeadShowCommand.self, DeadRetryCommand.self, DeadDropCommand.self,
    ],
    defaultSubcommand: DeadListCommand.self)
}
