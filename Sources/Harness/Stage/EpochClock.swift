internal import Glibc

/// The wall clock, which the accept log uses too.
package enum EpochClock {
  package static func nowMs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
