/// The status that the process ends with (sysexits.h).
package enum ExitStatus: Int32, Sendable {
  case ok = 0
  /// Pushes of a job that was waited for were not sent, or those of a previewed one would not be; or `status --check`
  /// found an alarm, or `doctor` something that needs a person.
  case unsent = 1
  /// The command line itself; ArgumentParser's own choice too.
  case usage = 64
  /// The input that was given is refused.
  case badInput = 65
  /// Redis, or another service that is needed, is not there.
  case unavailable = 69
  case internalError = 70
  /// The result, or a file that it was to write, cannot be written, as on a full disk.
  case outputError = 74
  case configuration = 78
  /// Ended by Ctrl-C, as shells report it; 143 by SIGTERM (`Interrupts.exitStatus`).
  case interrupted = 130
}
