internal import ArgumentParser
internal import Store
internal import Typesetting

/// The name of a dead letter: a stream entry, `<ms>-<n>`.
enum DeadEntry {
  static func check(_ text: String) throws {
    guard EntryID(text) != nil else {
      throw ValidationError(
        "\"\(DisplayText.printable(text))\" is no dead letter: they are named like "
          + "1790000000000-0, see pushpool dead list.")
    }
  }
}
