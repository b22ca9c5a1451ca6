internal import Model

extension JSONValue {
  /// The lines of the value as people read it: a member or element a line, two spaces a level.
  var indentedLines: [String] {
    switch self {
    case .object(let object) where !object.isEmpty:
      let parts = object.members.map { member in
        var lines = member.value.indentedLines
        lines[0] = JSONValue.string(member.name).text() + ": " + lines[0]
        return lines
      }
      return Self.block("{", parts, "}")
    case .array(let items) where !items.isEmpty:
      return Self.block("[", items.map(\.indentedLines), "]")
    default: return [text()]
    }
  }

  private static func block(_ opening: String, _ parts: [[String]], _ closing: String) -> [String] {
    var lines = [opening]
    for (index, part) in parts.enumerated() {
      lines += part.map { "  " + $0 }
      if index < parts.count - 1 { lines[lines.count - 1] += "," }
    }
    return lines + [closing]
  }
}
