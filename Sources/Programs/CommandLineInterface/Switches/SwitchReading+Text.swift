internal import Model
internal import Operations
internal import Store
internal import Typesetting

extension SwitchReading {
  func table(indent: String = "", max: Int = .max) -> TextTable {
    var table = TextTable([
      .init(indent + "OFF"), .init("SINCE"), .init("REASON"),
    ])
    for entry in sorted.prefix(max) {
      table.append([
        indent + entry.killSwitch.words,
        entry.remark.sinceMs.map { InstantText.local(ms: $0) } ?? "",
        entry.remark.reason,
      ])
    }
    return table
  }
}
