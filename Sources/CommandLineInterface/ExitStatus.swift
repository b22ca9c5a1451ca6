/// What the process ends with (sysexits.h).
package enum ExitStatus: Int32, Sendable {
  case ok = 0
  /// The command line itself; ArgumentParser's own choice too.
  case usage = 64
  /// What was given to work on is refused.
  case badInput = 65
  /// Redis, or another service that is needed, is not there.
  case unavailable = 69
  case internalError = 70
  case configuration = 78
  /// Ended by Ctrl-C, as shells report it.
  case interrupted = 130
}
