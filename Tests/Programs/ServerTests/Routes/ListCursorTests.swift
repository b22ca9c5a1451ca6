import Model
import Testing

@testable import Server

/// Cursors of lists, which clients send back.
@Suite struct ListCursorTests {
  private static let list = ListCursor.List(name: "tests1", valuesMax: 2)

  @Test(
    "a cursor comes back as it was, whatever its values hold",
    arguments: ["", "a", "ab", "abc", "ü\n\"", String(repeating: "x", count: 300)])
  func returns(text: String) throws {
    let cursor = ListCursor(Self.list, [.string(text), .integer(-7)])
    #expect(cursor.text.utf8.allSatisfy { TextRule.isLetterOrDigit($0) || "-_".utf8.contains($0) })
    #expect(try ListCursor(Self.list, text: cursor.text) == cursor)
  }

  @Test("what is no cursor of the list is refused")
  func refuses() {
    let cursor = ListCursor(Self.list, [.string("a"), .integer(1)])
    let others = [
      ListCursor(ListCursor.List(name: "tests2", valuesMax: 2), cursor.values),
      ListCursor(Self.list, [.string("a")]),
      ListCursor(Self.list, [.string("a"), .integer(1), .null]),
      ListCursor(Self.list, [.array([.array([])]), .integer(1)]),
    ]
    let texts =
      others.map(\.text) + [
        "", "x", "====", cursor.text + "=", cursor.text + "A", " " + cursor.text, "ü", "e30", "W10",
        String(repeating: "A", count: 10_000),
      ]
    for text in texts {
      #expect(throws: Problem.self, "\(text)") { try ListCursor(Self.list, text: text) }
    }
  }

  @Test("a path names what it holds so that the index finds it again")
  func paths() throws {
    let path = ResourcePath("v1", "a/b:c", "ü%")
    #expect(path.text == "/v1/a%2Fb%3Ac/%C3%BC%25")
    #expect(
      path.with([(name: "q", value: "a&b"), (name: "none", value: nil)]) == path.text + "?q=a%26b")
    #expect(path.with([]) == path.text)
  }
}
