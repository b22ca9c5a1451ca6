internal import Model

/// Where a list goes on. Clients take it for a word: base64url of a JSON array, which begins with the name and the version of
/// the list.
struct ListCursor: Sendable, Equatable {
  /// A list, and the values that a cursor of it has.
  struct List: Sendable, Equatable {
    /// Names what the values mean: another meaning has another name.
    let name: String
    let valuesMax: Int
  }

  let list: List
  let values: [JSONValue]

  init(_ list: List, _ values: [JSONValue]) {
    self.list = list
    self.values = values
  }

  /// Reads what a client has sent back.
  /// - Throws: 400 where it is no cursor of this list.
  init(_ list: List, text: String) throws(Problem) {
    guard text.utf8.count <= Self.bytesMax, let bytes = Base64URL.bytes(of: text.utf8),
      let items = (try? JSONParser(depthMax: 2, valuesMax: 16).parse(bytes))?.arrayValue,
      items.first?.stringValue == list.name, items.count == list.valuesMax + 1
    else { throw Self.unreadable }
    self.list = list
    values = Array(items.dropFirst())
  }

  static let unreadable = Problem.badRequest(
    "cursor of the query is none of this list: take it from the answer before, or leave it out")

  /// Base64 of two names and some numbers.
  private static let bytesMax = 2_048

  var text: String {
    let items = [JSONValue.string(list.name)] + values
    return Base64URL.text(of: JSONValue.array(items).bytes())
  }
}
