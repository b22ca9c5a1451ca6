/// Jobs sent from their entries that have ended and that nobody tells of yet, and the tasks that tell; loop-bound.
struct EndedRuns {
  private var ready: [DirectRun] = []
  /// Tasks that tell, and those of them that have not begun.
  private var telling = 0
  private var starting = 0

  /// Adds one. - Returns: whether another task is to tell of them, which counts from now on.
  mutating func add(_ direct: DirectRun) -> Bool {
    ready.append(direct)
    // Others whose answers came with this one's are about to end, too.
    guard telling == 0 || ready.count >= WorkerLimits.directEndsMax * (starting + 1) else {
      return false
    }
    telling += 1
    starting += 1
    return true
  }

  /// A task begins to tell.
  mutating func begin() { starting -= 1 }

  /// Takes out as many as are told together; nil when there are none, and the task ends.
  mutating func take() -> [DirectRun]? {
    guard !ready.isEmpty else {
      telling -= 1
      return nil
    }
    let batch = Array(ready.prefix(WorkerLimits.directEndsMax))
    ready.removeFirst(batch.count)
    return batch
  }
}
