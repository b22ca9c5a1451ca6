import Testing

@testable import Worker

@Suite struct ThroughputTests {
  private static let spanNs: UInt64 = 50_000_000

  private static func look(_ throughput: inout Throughput, sent: Int, spans: Double) {
    throughput.look(
      spanNs: spanNs, sent: sent, nowNs: UInt64((1_000 + spans) * Double(spanNs)))
  }

  @Test("what left in the last two spans is known, and a longer one counts by its rate")
  func counts() {
    var throughput = Throughput()
    Self.look(&throughput, sent: 0, spans: 0)
    #expect(!throughput.isKnown && throughput.last == 0)
    Self.look(&throughput, sent: 400, spans: 0.9)
    #expect(!throughput.isKnown, "the span is not over")
    Self.look(&throughput, sent: 500, spans: 1)
    #expect(throughput.isKnown && throughput.last == 500 && throughput.before == 0)
    Self.look(&throughput, sent: 900, spans: 3)
    #expect(throughput.last == 200 && throughput.before == 500)
  }

  @Test("after a pause nothing is known")
  func pauses() {
    var throughput = Throughput()
    Self.look(&throughput, sent: 0, spans: 0)
    Self.look(&throughput, sent: 500, spans: 1)
    Self.look(&throughput, sent: 500, spans: 2 + Double(WorkerLimits.sampleSpansMax))
    #expect(!throughput.isKnown && throughput.last == 0 && throughput.before == 0)
  }
}
