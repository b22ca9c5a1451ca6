internal import ArgumentParser

/// The name of a dead letter: a stream entry, `<ms>-<n>`.
enum DeadEntry {
  static func check(_ text: String) throws {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ UInt64($0) != nil }) else {
      throw ValidationError(
        "\"\(DisplayText.printable(text))\" is no dead letter: they are named like "
          + "1790000000000-0, see pushpool dead list.")
    }
  }

  /// Whether an entry stands behind another in the stream.
  static func isBehind(_ entry: String, _ other: String) -> Bool { place(entry) > place(other) }

  private static func place(_ entry: String) -> (UInt64, UInt64) {
    let parts = entry.split(separator: "-", maxSplits: 1).map { UInt64($0) ?? 0 }
    return (parts.first ?? 0, parts.count > 1 ? parts[1] : 0)
  }
}
