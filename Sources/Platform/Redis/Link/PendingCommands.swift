/// The commands of one connection that wait for their replies, in order: a ring that grows to its need.
struct PendingCommands {
  struct Entry {
    let handler: (Result<RedisReply, RedisError>) -> Void
    /// In the loop's monotonic nanoseconds; `UInt64.max` for a command without a time limit.
    let deadlineNs: UInt64
    /// When it was written, by the same clock; not when its turn of the loop began, which may be long ago in a busy lane.
    let sentNs: UInt64
    /// With so many bytes of an incomplete string its reply is cut short; `Int.max` when all of it is wanted.
    let cutBytes: Int
  }

  private var slots: [Entry?] = Array(repeating: nil, count: 64)
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  var first: Entry? { count == 0 ? nil : slots[head] }

  mutating func append(_ entry: Entry) {
    if count == slots.count { grow() }
    slots[(head + count) & (slots.count - 1)] = entry
    count += 1
  }

  mutating func popFirst() -> Entry? {
    guard count > 0 else { return nil }
    defer {
      slots[head] = nil
      head = (head + 1) & (slots.count - 1)
      count -= 1
    }
    return slots[head]
  }

  /// Power-of-two sizes make the wrap a mask.
  private mutating func grow() {
    var grown: [Entry?] = Array(repeating: nil, count: slots.count * 2)
    for offset in 0..<count { grown[offset] = slots[(head + offset) & (slots.count - 1)] }
    slots = grown
    head = 0
  }
}
