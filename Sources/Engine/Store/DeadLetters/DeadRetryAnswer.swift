/// What became of a dead letter's retry.
package enum DeadRetryAnswer: String, Sendable {
  case retried = "RETRIED"
  /// Retried or dropped before.
  case absent = "ABSENT"
  /// It cannot be retried: its job's record has expired, or the original is not kept.
  case gone = "GONE"
  /// Its job was cancelled and still ends: retry it when nothing is pending any more.
  case ending = "ENDING"
}
