/// The armed timers of a loop, soonest first.
///
/// Moving or cancelling a timer leaves its old entry behind, to be dropped when it comes up; so what
/// re-arms often should compare times when it fires rather than move its timer at each event.
struct TimerHeap {
  private struct Entry {
    let deadlineNs: UInt64
    let timer: LoopTimer
    var isCurrent: Bool { timer.deadlineNs == deadlineNs }
  }

  private var entries: [Entry] = []

  var nextDeadlineNs: UInt64? {
    mutating get {
      while let first = entries.first, !first.isCurrent { removeFirst() }
      return entries.first?.deadlineNs
    }
  }

  mutating func insert(_ timer: LoopTimer, deadlineNs: UInt64) {
    entries.append(Entry(deadlineNs: deadlineNs, timer: timer))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].deadlineNs < entries[parent].deadlineNs else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// The next timer that is due, removed; nil when none is.
  mutating func popDue(nowNs: UInt64) -> LoopTimer? {
    guard let deadline = nextDeadlineNs, deadline <= nowNs else { return nil }
    return removeFirst().timer
  }

  @discardableResult
  private mutating func removeFirst() -> Entry {
    entries.swapAt(0, entries.count - 1)
    let removed = entries.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && entries[child].deadlineNs < entries[least].deadlineNs {
        least = child
      }
      guard least != parent else { return removed }
      entries.swapAt(parent, least)
      parent = least
    }
  }
}
