import Testing

@testable import Redis

@Suite struct PendingCommandsTests {
  @Test func `commands leave in the order they came while the ring wraps and grows`() {
    var pending = PendingCommands()
    var next = 0
    var expected = 0
    for round in 0..<300 {
      for _ in 0..<(round % 7 + 2) {
        pending.append(
          PendingCommands.Entry(
            handler: { _ in }, deadlineNs: UInt64(next), sentNs: 0, cutBytes: .max))
        next += 1
      }
      for _ in 0..<(round % 5) {
        #expect(pending.popFirst()?.deadlineNs == UInt64(expected))
        expected += 1
      }
    }
    while let entry = pending.popFirst() {
      #expect(entry.deadlineNs == UInt64(expected))
      expected += 1
    }
    #expect(expected == next)
    #expect(pending.isEmpty)
  }
}
