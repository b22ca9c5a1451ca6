/// Redis's answer to the end of a direct job.
package enum DirectAnswer: String, Sendable {
  /// The job is over: as was told now, or as this worker or another told before.
  case ended = "OK"
  /// The job goes on as a chunk, or its record is gone: nothing was counted.
  case stale = "STALE"
  /// Its counts do not add up: it is to be admitted.
  case admit = "ADMIT"
}
