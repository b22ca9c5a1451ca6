internal import ArgumentParser
internal import Model
internal import ProgramSetup

/// A word that stands where the name of a command should.
enum UnknownCommand {
  /// - Throws: a usage error with the nearest name.
  static func check(
    _ arguments: [String], of root: any ParsableCommand.Type
  ) throws(CommandFailure) {
    var command = root
    var path = root.configuration.commandName ?? "pushpool"
    for argument in arguments {
      let known = command.configuration.subcommands
      guard !known.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return }
      guard let next = known.first(where: { $0.configuration.commandName == argument }) else {
        let names = known.compactMap { $0.configuration.commandName }
        let hint =
          NearestName.suggestion(for: argument, among: names)
          .map { "did you mean \"\(path) \($0)\"?" } ?? "see: \(path) --help"
        throw CommandFailure(.usage, "there is no command \"\(path) \(argument)\"; \(hint)")
      }
      command = next
      path += " \(argument)"
    }
  }
}
