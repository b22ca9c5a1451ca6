internal import Model

/// How many users are in a topic or a channel.
package struct GroupSize: Sendable, Equatable {
  package let name: String
  package let users: Int

  package init(name: String, users: Int) {
    self.name = name
    self.users = users
  }
}

/// The first of many topics or channels, in the byte order of their names. It holds some hundreds, however many are added.
struct FirstSizes {
  /// Sizes that are held beyond those that are told, so that few additions sort.
  private static let spare = 1_024

  private let place: String
  private let max: Int
  private var held: [GroupSize] = []
  /// The last name that can still be among the first; nil while there is room for any.
  private var last: String?

  /// - Parameters:
  ///   - place: only names behind it count; empty for all.
  ///   - max: how many are told, 1 at least.
  init(behind place: String, max: Int) {
    self.place = place
    self.max = max
  }

  /// Adds one; of two of the same name the later counts.
  mutating func add(_ size: GroupSize) {
    guard TextRule.precedes(place, size.name) else { return }
    if let last, TextRule.precedes(last, size.name) { return }
    held.append(size)
    guard held.count >= max + Self.spare else { return }
    held = sizes
    last = held.count == max ? held.last?.name : nil
  }

  var sizes: [GroupSize] {
    let order = held.indices.sorted { one, other in
      TextRule.isSame(held[one].name, held[other].name)
        ? one < other : TextRule.precedes(held[one].name, held[other].name)
    }
    var first: [GroupSize] = []
    for index in order {
      if let previous = first.last, TextRule.isSame(previous.name, held[index].name) {
        first[first.count - 1] = held[index]
      } else if first.count == max {
        break
      } else {
        first.append(held[index])
      }
    }
    return first
  }
}
