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
}
