internal import HTTP2Server

/// Answers that wait for their time: a binary heap by due time, then by arrival.
struct DelayedAnswers {
  private struct Entry {
    let dueNs: UInt64
    let serial: UInt64
    let answer: PendingAnswer

    func isBefore(_ other: Entry) -> Bool {
      dueNs < other.dueNs || (dueNs == other.dueNs && serial < other.serial)
    }
  }

  private var heap: [Entry] = []
  private var serial: UInt64 = 0

  var nextDueNs: UInt64? { heap.first?.dueNs }

  mutating func insert(_ answer: PendingAnswer, dueNs: UInt64) {
    serial += 1
    heap.append(Entry(dueNs: dueNs, serial: serial, answer: answer))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// The next answer whose time has come.
  mutating func popDue(nowNs: UInt64) -> PendingAnswer? {
    guard let first = heap.first, first.dueNs <= nowNs else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[smallest]) {
        smallest = child
      }
      guard smallest != parent else { break }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
    return first.answer
  }

  /// Forgets the answers of connections that have closed.
  mutating func removeClosed() {
    let open = heap.filter { $0.answer.connection.isOpen }
    guard open.count < heap.count else { return }
    heap = open.sorted { $0.isBefore($1) }
  }
}

/// A decision that waits for the accept log, and maybe for its delay.
struct PendingAnswer {
  let connection: SimulatedConnection
  let request: ServerRequest
  /// The request objects are reused: this tells whether it is still the same request.
  let use: UInt64
  var reaction: Decision.Reaction
  var isAccepted: Bool
  /// Cuts the connection instead of answering, after the accept was logged.
  let isCut: Bool

  var isCurrent: Bool {
    connection.isOpen && request.use == use && !request.isClosed
  }
}
