import Bench
import Testing

@Suite struct SamplesTests {
  @Test("the median is the middle one, or the mean of the two in the middle")
  func median() {
    #expect(Samples.median([3, 1, 2]) == 2)
    #expect(Samples.median([4, 1, 2, 3]) == 2.5)
    #expect(Samples.median([]) == nil)
  }

  @Test("a percentile is the smallest value that covers its part")
  func percentile() {
    let values = (1...100).map(Double.init)
    #expect(Samples.percentile(values, 0.5) == 50)
    #expect(Samples.percentile(values, 0.99) == 99)
    #expect(Samples.percentile([7], 0.99) == 7)
    #expect(Samples.percentile([], 0.5) == nil)
  }
}
