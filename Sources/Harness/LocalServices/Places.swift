/// A number of places, first come first served.
package actor Places {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(count: Int) { free = count }

  package func enter() async {
    if free > 0 {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  package func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
