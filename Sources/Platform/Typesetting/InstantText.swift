internal import Glibc

/// Instants as RFC 3339 text in UTC.
package enum InstantText {
  /// `2026-11-21T09:30:00.250Z`, or without the milliseconds.
  package static func rfc3339(ms: Int64, withMilliseconds: Bool = true) -> String {
    var seconds = time_t(ms / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let date =
      "\(parts.tm_year + 1_900)-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
    let time =
      "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
    let fraction = withMilliseconds ? ".\(digits(CInt(ms % 1_000), 3))" : ""
    return "\(date)T\(time)\(fraction)Z"
  }

  /// Now, in epoch milliseconds.
  package static func nowMs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static func digits(_ number: CInt, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
