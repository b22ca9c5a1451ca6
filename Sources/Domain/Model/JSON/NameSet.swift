/// A few names that do not change, to be looked for byte for byte among those of the same length.
struct NameSet: Sendable {
  private let byLength: [[String]]

  init(_ names: [String]) {
    let lengthMax = names.reduce(0) { max($0, $1.utf8.count) }
    var byLength = [[String]](repeating: [], count: lengthMax + 1)
    for name in names { byLength[name.utf8.count].append(name) }
    self.byLength = byLength
  }

  func contains(_ name: String) -> Bool {
    let length = name.utf8.count
    return length < byLength.count && byLength[length].contains { TextRule.isSame($0, name) }
  }
}
