/// The armed timers of a loop, soonest first; of those due at the same time, the one armed first.
///
/// Each timer knows its place, so that moving or cancelling it leaves nothing behind.
struct TimerHeap {
  private var timers: [LoopTimer] = []
  private var armings: UInt64 = 0

  var count: Int { timers.count }

  var nextDeadlineNs: UInt64? { timers.first?.deadlineNs }

  /// Adds a timer that is not in the heap, or moves one that is.
  mutating func arm(_ timer: LoopTimer, deadlineNs: UInt64) {
    armings += 1
    timer.deadlineNs = deadlineNs
    timer.arming = armings
    if timer.place < 0 {
      timer.place = timers.count
      timers.append(timer)
    }
    settle(timer.place)
  }

  /// Takes a timer out; nothing happens when it is not armed.
  mutating func disarm(_ timer: LoopTimer) {
    guard timer.place >= 0 else { return }
    let place = timer.place
    timer.place = -1
    let last = timers.removeLast()
    guard last !== timer else { return }
    timers[place] = last
    last.place = place
    settle(place)
  }

  /// The next timer that is due, disarmed; nil when none is.
  mutating func popDue(nowNs: UInt64) -> LoopTimer? {
    guard let first = timers.first, first.deadlineNs <= nowNs else { return nil }
    disarm(first)
    return first
  }

  mutating func removeAll() {
    for timer in timers { timer.place = -1 }
    timers.removeAll()
  }

  private mutating func settle(_ start: Int) {
    var place = start
    while place > 0, isBefore(place, (place - 1) / 2) {
      swapPlaces(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
    while true {
      var least = place
      if 2 * place + 1 < timers.count, isBefore(2 * place + 1, least) { least = 2 * place + 1 }
      if 2 * place + 2 < timers.count, isBefore(2 * place + 2, least) { least = 2 * place + 2 }
      guard least != place else { return }
      swapPlaces(place, least)
      place = least
    }
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (timers[one].deadlineNs, timers[one].arming) < (timers[other].deadlineNs, timers[other].arming)
  }

  private mutating func swapPlaces(_ one: Int, _ other: Int) {
    timers.swapAt(one, other)
    timers[one].place = one
    timers[other].place = other
  }
}
