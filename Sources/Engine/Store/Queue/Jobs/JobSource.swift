package import Model

/// Names one admission of a job by its stream entry, and a job that has no id of its own. Entry ids of two streams can
/// be equal; the priority's initial tells them apart.
package enum JobSource {
  package static func of(_ entry: String, _ priority: Priority) -> String {
    "\(priority.rawValue.prefix(1))\(entry)"
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

  /// When an entry was added, in epoch milliseconds, by the time in its id; nil when the producer chose an id
  /// that cannot be one. The admission decides it alike (`enqueued_at` of the functions).
  static func enqueuedAtMs(_ entry: String, nowMs: Int64) -> Int64? {
    guard let text = entry.split(separator: "-").first, let ms = Int64(text), ms <= nowMs,
      ms > nowMs - StoreLimits.entryAgeMsMax
    else { return nil }
    return ms
  }
}
