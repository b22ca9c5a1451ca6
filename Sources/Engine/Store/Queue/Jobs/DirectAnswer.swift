/// What Redis says to the end of a direct job.
package enum DirectAnswer: String, Sendable {
  case ended = "OK"
  /// It is another worker's by now: nothing was counted.
  case stale = "STALE"
  /// Its counts do not add up: it is to be admitted.
  case admit = "ADMIT"
}
