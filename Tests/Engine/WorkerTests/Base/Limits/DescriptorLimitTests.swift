import Testing

@testable import Worker

@Suite struct DescriptorLimitTests {
  @Test("a worker keeps so many connections, however many files it may open; its lanes share them")
  func connectionsKept() {
    let most = WorkerLimits.connectionsKeptMax
    #expect(DescriptorLimit.connectionsKept(lanes: 1, allowed: 1_000_000) == most)
    #expect(DescriptorLimit.connectionsKept(lanes: 2, allowed: 1_000_000) == most / 2)
    #expect(DescriptorLimit.connectionsKept(lanes: 2, allowed: .max) == most / 2)
  }

  @Test("where it may open few files, a quarter of them is left for what is busy")
  func fewDescriptors() {
    let free = 1_024 - WorkerLimits.processDescriptors - 2 * WorkerLimits.laneDescriptors
    #expect(DescriptorLimit.connectionsKept(lanes: 2, allowed: 1_024) == free / 4 * 3 / 2)
    #expect(DescriptorLimit.connectionsKept(lanes: 4, allowed: 24) == 1)
  }
}
