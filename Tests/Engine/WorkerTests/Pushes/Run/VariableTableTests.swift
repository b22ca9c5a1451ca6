import Testing

@testable import Worker

@Suite struct VariableTableTests {
  private var table = VariableTable()
  private let arena = ByteArena()

  private mutating func add(_ values: String?...) -> VariableTable.Row {
    let copies = values.map { $0.map(arena.copy) }
    return table.add(copies.count) { copies[$0] }
  }

  private func values(_ row: VariableTable.Row) -> [String?]? {
    table[row].map { $0.map { $0.map { String(decoding: $0, as: UTF8.self) } } }
  }

  @Test("each user has the values of its own row, in the placeholders' order")
  mutating func finds() {
    let rows = [add("Ann", nil), add(nil, "9 €"), add("Cy", "3 €")]
    #expect(rows.map(values) == [["Ann", nil], [nil, "9 €"], ["Cy", "3 €"]])
  }

  @Test(
    "a user whose values were not read has none",
    arguments: [.none, .unreadable, .noHash] as [VariableTable.Row])
  mutating func hasNone(row: VariableTable.Row) {
    #expect(values(row) == nil)
    _ = add("Ann")
    #expect(values(row) == nil)
  }
}
