internal import Model
internal import ProgramSetup

/// The complaint about a `--token` whose network is not said, wherever a command has it.
enum TokenOption {
  /// - Parameter error: why no network could have it. It does not repeat the token.
  static func failure(_ error: InvalidField) -> CommandFailure {
    CommandFailure(.badInput, "--token is no network's: for one, \(error.message)")
  }
}
