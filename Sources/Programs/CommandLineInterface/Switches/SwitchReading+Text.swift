internal import Model
internal import Store
internal import Typesetting

extension SwitchReading {
  /// Apps before what is theirs.
  var sorted: [Entry] {
    entries.sorted {
      ($0.killSwitch.app, $0.killSwitch.field) < ($1.killSwitch.app, $1.killSwitch.field)
    }
  }

  func table(indent: String = "", max: Int = .max) -> TextTable {
    var table = TextTable([
      .init(indent + "OFF"), .init("SINCE"), .init("REASON"),
    ])
    for entry in sorted.prefix(max) {
      table.append([
        indent + entry.killSwitch.words,
        entry.remark.sinceMs.map { InstantText.rfc3339(ms: $0, withMilliseconds: false) } ?? "",
        entry.remark.reason,
      ])
    }
    return table
  }
}
