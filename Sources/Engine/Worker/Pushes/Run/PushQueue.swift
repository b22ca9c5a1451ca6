internal import Model

/// Pushes that wait to be sent: tags in order, high priority first. A ring per priority; it grows to
/// what a lane may have resolved at once and is then used again. Of many destinations most stay empty.
struct PushQueue {
  private struct Ring {
    private static let roomMin = 16

    var tags: [UInt64] = []
    var head = 0
    var count = 0

    mutating func append(_ tag: UInt64) {
      if count == tags.count { grow() }
      tags[(head + count) & (tags.count - 1)] = tag
      count += 1
    }

    mutating func popFirst() -> UInt64? {
      guard count > 0 else { return nil }
      defer {
        head = (head + 1) & (tags.count - 1)
        count -= 1
      }
      return tags[head]
    }

    private mutating func grow() {
      var larger = [UInt64](repeating: 0, count: max(Self.roomMin, tags.count * 2))
      for index in 0..<count { larger[index] = tags[(head + index) & (tags.count - 1)] }
      tags = larger
      head = 0
    }
  }

  static let ranks = Priority.allCases.count
  private var rings = [Ring](repeating: Ring(), count: ranks)

  var count: Int {
    var count = 0
    for rank in rings.indices { count += rings[rank].count }
    return count
  }

  /// - Parameter rank: that of a priority; 0 goes first.
  mutating func append(_ tag: UInt64, rank: Int) { rings[rank].append(tag) }

  func count(rank: Int) -> Int { rings[rank].count }

  /// How many go before another of this rank.
  func count(upTo rank: Int) -> Int { rings[...rank].reduce(0) { $0 + $1.count } }

  mutating func popFirst(rank: Int) -> UInt64? { rings[rank].popFirst() }

  mutating func popFirst() -> UInt64? {
    for rank in rings.indices where rings[rank].count > 0 { return rings[rank].popFirst() }
    return nil
  }
}
