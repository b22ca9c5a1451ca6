/// What the process ends with (sysexits.h).
package enum ExitStatus: Int32, Sendable {
  case ok = 0
  /// Of a job that was waited for not all was sent, or of one that was previewed not all would be; or `status --check` found
  /// an alarm.
  case unsent = 1
  /// The command line itself; ArgumentParser's own choice too.
  case usage = 64
  /// What was given to work on is refused.
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
