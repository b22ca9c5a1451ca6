internal import Model
internal import Typesetting

/// Reasons, how often each was met, and an example of each. A hostile file cannot make it large.
struct ReasonTally {
  private struct Entry {
    let reason: String
    let example: String
    var count = 1
  }

  private var entries: [Entry] = []
  private var others = 0

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ reason: String, example: String) {
    if let index = entries.firstIndex(where: { $0.reason == reason }) {
      entries[index].count += 1
    } else if entries.count < CommandLineLimits.importReasonsMax {
      entries.append(Entry(reason: reason, example: example))
    } else {
      others += 1
    }
  }

  /// The most frequent reasons first.
  private var ordered: [Entry] { entries.sorted { $0.count > $1.count } }

  var lines: [String] {
    let named = ordered.map {
      "  \(FigureText.count($0.count)): \(DisplayText.printable($0.reason)) (the first: "
        + "\(DisplayText.printable($0.example)))"
    }
    return others == 0 ? named : named + ["  \(FigureText.count(others)): other reasons"]
  }

  var json: JSONValue {
    var items: [JSONValue] = ordered.map {
      .object([
        "reason": .string($0.reason), "count": .integer($0.count), "first": .string($0.example),
      ])
    }
    if others > 0 {
      items.append(.object(["reason": .string("other reasons"), "count": .integer(others)]))
    }
    return .array(items)
  }
}
