import Bench
import Testing

@Suite struct LatencyFiguresTests {
  @Test("latency is the middle, nearly the worst and the worst of all samples")
  func figures() {
    let figures = LatencyFigures((1...200).map(Double.init).shuffled())
    #expect(figures?.p50Ms == 100)
    #expect(figures?.p99Ms == 198)
    #expect(figures?.maxMs == 200)
    #expect(LatencyFigures([]) == nil)
  }
}
