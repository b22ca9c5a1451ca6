extension JobContent {
  /// Says so when what is rendered of it could be taken for a mark.
  func refuseMarks() throws(InvalidField) {
    var own = self
    own.variables = nil
    for member in own.object().members where Mark.isIn(member.value.bytes()) {
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: ""),
        message: "must not hold U+FDD0, which Unicode keeps for programs")
    }
  }

  /// A placeholder that receivers would read as it stands, since the job has no values for any; nil when there is none.
  package var unfilledPlaceholder: Placeholder? {
    guard variables == nil else { return nil }
    var (copy, table) = (self, PlaceholderTable())
    // What is no placeholder is no fault in such a job: those that were found before it count.
    try? copy.mark(&table)
    for text in localized {
      for part in [text.title, text.body] {
        _ = try? part.map { (text) throws(InvalidField) in try table.mark(text) }
      }
    }
    return table.placeholders.first
  }

  /// Puts marks in the place of placeholders, in every text of the common part and the networks' own.
  mutating func mark(_ table: inout PlaceholderTable) throws(InvalidField) {
    if var common = notification {
      try Self.mark(&common.title, "/notification/title", &table)
      try Self.mark(&common.body, "/notification/body", &table)
      try Self.mark(&common.sound, "/notification/sound", &table)
      try Self.mark(&common.category, "/notification/category", &table)
      try Self.mark(&common.threadID, "/notification/thread_id", &table)
      try Self.mark(&common.image, "/notification/image", &table, isURL: true)
      for index in common.data.indices {
        let entry = common.data[index]
        let pointer = FieldPointer.child(entry.name, of: "/notification/data")
        var text: String? = entry.value
        try Self.mark(&text, pointer, &table)
        common.data[index] = Notification.DataEntry(name: entry.name, value: text ?? "")
      }
      notification = common
    }
    try parts.mark(&table)
  }

  private static func mark(
    _ text: inout String?, _ pointer: String, _ table: inout PlaceholderTable, isURL: Bool = false
  ) throws(InvalidField) {
    guard let plain = text else { return }
    do { text = try table.mark(plain, isURL: isURL) } catch { throw error.under(pointer) }
  }
}
