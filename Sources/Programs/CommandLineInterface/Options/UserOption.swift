internal import Model
internal import ProgramSetup

/// The rule of `--user`, wherever a command has it: nobody is looked for who cannot be there.
enum UserOption {
  static func check(_ user: String) throws(CommandFailure) {
    do throws(InvalidField) { try TextRule.checkUser(user) } catch {
      throw CommandFailure(.usage, "--user \(error.message)")
    }
  }
}
