/// The values that texts of a chunk are filled with, a row for each user; they live in the run's arena, escaped as they
/// stand in JSON.
struct VariableTable {
  /// Where a user's values are, or why there are none.
  struct Row: Equatable {
    fileprivate let number: Int32

    /// The job fills nothing in.
    static let none = Row(number: -1)
    /// The producer's values for the user are no JSON object of texts, numbers and booleans, or too long.
    static let unreadable = Row(number: -2)
    /// The key that should hold the values is no HASH, or may not be read.
    static let noHash = Row(number: -3)
  }

  /// Nil for what a user has no value for and the text no default.
  private var values: [UnsafeRawBufferPointer?] = []
  private var rows: Int32 = 0

  /// - Parameters:
  ///   - count: of the job's placeholders.
  ///   - value: gives that of a placeholder, by its number.
  mutating func add(_ count: Int, _ value: (Int) -> UnsafeRawBufferPointer?) -> Row {
    for number in 0..<count { values.append(value(number)) }
    defer { rows += 1 }
    return Row(number: rows)
  }

  /// The values of a row; nil when there are none.
  subscript(row: Row) -> ArraySlice<UnsafeRawBufferPointer?>? {
    guard row.number >= 0, rows > 0 else { return nil }
    let width = values.count / Int(rows)
    return values[(Int(row.number) * width)..<((Int(row.number) + 1) * width)]
  }
}
