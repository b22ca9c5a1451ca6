import Testing

@testable import Worker

@Suite struct PushQueueTests {
  @Test("pushes leave in order, those of high priority first")
  func keepsOrder() {
    var queue = PushQueue()
    for tag in 0..<300 { queue.append(UInt64(tag), rank: tag % 3) }
    #expect(queue.count == 300)
    var taken: [UInt64] = []
    while let tag = queue.popFirst() { taken.append(tag) }
    let expected = (0..<3).flatMap { rank in stride(from: UInt64(rank), to: 300, by: 3) }
    #expect(taken == expected)
    #expect(queue.count == 0)
  }

  @Test("a ring that wraps and then grows keeps its order")
  func growsWhenWrapped() {
    var queue = PushQueue()
    for tag in 0..<60 { queue.append(UInt64(tag), rank: 1) }
    for tag in 0..<40 { #expect(queue.popFirst() == UInt64(tag)) }
    for tag in 60..<200 { queue.append(UInt64(tag), rank: 1) }
    #expect(queue.count(rank: 1) == 160)
    for tag in 40..<200 { #expect(queue.popFirst(rank: 1) == UInt64(tag)) }
    #expect(queue.popFirst() == nil)
  }
}
