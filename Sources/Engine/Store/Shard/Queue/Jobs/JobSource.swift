package import Model

/// Names one admission of a job by its stream entry, and a job that has no id of its own. Entry ids of two streams can
/// be equal; the priority's initial tells them apart.
package enum JobSource {
  package static func of(_ entry: String, _ priority: Priority) -> String {
    switch priority {
    case .high: "h" + entry
    case .normal: "n" + entry
    case .low: "l" + entry
    }
  }

  /// The entry that such a name is made of; nil for any other text.
  static func place(_ name: String) -> (priority: Priority, entry: String)? {
    guard let priority = Priority.allCases.first(where: { $0.rawValue.first == name.first }) else {
      return nil
    }
    let parts = name.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
    // As Redis writes it: an entry must not have two names.
    guard parts.count == 2,
      parts.allSatisfy({ part in UInt64(part).map(String.init) ?? "" == part })
    else { return nil }
    return (priority, String(name.dropFirst()))
  }

  /// Whether an id is one that a job without its own gets.
  package static func isName(_ id: String) -> Bool { place(id) != nil }

  /// When an entry was added, in epoch milliseconds, by the time in its id; nil when the producer chose an id
  /// that cannot be one. The admission decides it alike (`enqueued_at` of the functions).
  static func enqueuedAtMs(_ entry: String, nowMs: Int64) -> Int64? {
    guard let ms = milliseconds(entry), ms <= nowMs, ms > nowMs - StoreLimits.entryAgeMsMax
    else { return nil }
    return ms
  }

  /// The number in front of the dash. Asked of each job, and so without cutting the text up.
  private static func milliseconds(_ entry: String) -> Int64? {
    var ms: Int64?
    for byte in entry.utf8 {
      if byte == UInt8(ascii: "-") { break }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      let (tenfold, isTooLarge) = (ms ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = tenfold.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      guard !isTooLarge, !isLarger else { return nil }
      ms = sum
    }
    return ms
  }
}
