package import Model
package import Store

extension DeadLetter {
  /// The letter's fields as they are, and the entry.
  package func json() -> JSONValue {
    var object: JSONObject = ["entry": .string(name.text)]
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      switch name {
      case "at", "count": object[name] = Int64(value).map { .integer($0) } ?? .string(value)
      case "truncated": object[name] = .bool(isTruncated)
      // A bitmap is no text.
      case "done": break
      default: object[name] = .string(value)
      }
    }
    return .object(object)
  }
}
