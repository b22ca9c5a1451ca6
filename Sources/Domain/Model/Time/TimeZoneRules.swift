/// The rules of one time zone: the offset from UTC at every instant, as its TZif file (RFC 9636) says. Instants are
/// seconds since 1970-01-01T00:00:00Z, offsets seconds east of UTC.
package struct TimeZoneRules: Sendable, Equatable {
  /// From an instant on clocks are so far ahead of UTC.
  struct Change: Sendable, Equatable {
    let atSeconds: Int
    let offset: Int
  }

  /// Before the first change.
  let firstOffset: Int
  /// In order of time.
  let changes: [Change]
  /// Behind the last change; nil when that offset stays.
  let yearly: YearlyClockRule?

  /// No zone was ever further from UTC, nor is one allowed to be (RFC 9636, 3.2).
  static let offsetMax = 26 * 3_600

  func offset(atSeconds seconds: Int) -> Int {
    if let yearly, seconds >= changes.last?.atSeconds ?? Int.min {
      return yearly.offset(atSeconds: seconds)
    }
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].atSeconds <= seconds { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? firstOffset : changes[low - 1].offset
  }

  /// When clocks here show a time of day on a day: by RFC 5545, 3.3.5, the first of two such instants, and where clocks skip the
  /// time, the instant as it would be by the offset before the gap.
  /// - Parameter secondsOfDay: 0 to 86,399.
  package func instant(of date: CivilDate, secondsOfDay: Int) -> Int {
    let local = date.daysSinceEpoch * 86_400 + secondsOfDay
    // What clocks show is never further from UTC.
    let (first, last) = (local - Self.offsetMax, local + Self.offsetMax)
    var offset = offset(atSeconds: first)
    for change in changesBetween(first, last) {
      // Of this offset, or of the gap behind it.
      if local - offset < change.atSeconds || local - change.offset < change.atSeconds {
        return local - offset
      }
      offset = change.offset
    }
    return local - offset
  }

  /// The changes behind `first` up to `last`.
  private func changesBetween(_ first: Int, _ last: Int) -> [Change] {
    var found = changes.filter { $0.atSeconds > first && $0.atSeconds <= last }
    guard let yearly else { return found }
    let year = CivilDate(daysSinceEpoch: Int((Double(first) / 86_400).rounded(.down))).year
    for change in (year - 1...year + 1).flatMap(yearly.changes) {
      guard change.atSeconds > max(first, changes.last?.atSeconds ?? first),
        change.atSeconds <= last
      else { continue }
      found.append(change)
    }
    return found
  }
}
