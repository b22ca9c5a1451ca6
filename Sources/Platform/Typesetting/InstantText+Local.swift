internal import Glibc

extension InstantText {
  /// An instant for people, by the clock of this process's time zone and beside it in UTC, as JSON and logs have it:
  /// `2026-11-29 18:30:05 CET (17:30:05Z)`. Where the clock shows UTC, it is RFC 3339 text alone.
  package static func local(ms: Int64, withMilliseconds: Bool = false) -> String {
    var seconds = time_t(ms / 1_000)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else {
      return rfc3339(ms: ms, withMilliseconds: withMilliseconds)
    }
    return local(
      ms: ms, offsetSeconds: parts.tm_gmtoff, zone: parts.tm_zone.map { String(cString: $0) } ?? "",
      withMilliseconds: withMilliseconds)
  }

  /// - Parameters:
  ///   - offsetSeconds: how far the zone's clock is ahead of UTC then.
  ///   - zone: the zone's abbreviation then.
  static func local(
    ms: Int64, offsetSeconds: Int, zone: String, withMilliseconds: Bool = false
  ) -> String {
    let utc = rfc3339(ms: ms, withMilliseconds: withMilliseconds)
    let (ownMs, isTooFar) = ms.addingReportingOverflow(Int64(offsetSeconds) * 1_000)
    guard offsetSeconds != 0, !isTooFar else { return utc }
    let own = parts(of: rfc3339(ms: ownMs, withMilliseconds: withMilliseconds))
    let there = parts(of: utc)
    let beside = own.date == there.date ? "\(there.time)Z" : utc
    return "\(own.date) \(own.time) \(zone) (\(beside))"
  }

  private static func parts(of text: String) -> (date: Substring, time: Substring) {
    let mark = text.firstIndex(of: "T") ?? text.endIndex
    return (text[..<mark], text[mark...].dropFirst().dropLast())
  }
}
