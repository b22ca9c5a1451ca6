import Testing

@testable import Server

@Suite struct ReadinessTests {
  /// Something that is let through by a test.
  private actor Gate {
    private(set) var asked = 0
    private var waiting: [CheckedContinuation<String?, Never>] = []

    func wait() async -> String? {
      asked += 1
      return await withCheckedContinuation { waiting.append($0) }
    }

    /// Lets all through who wait.
    func open(_ answer: String?) {
      for continuation in waiting { continuation.resume(returning: answer) }
      waiting = []
    }

    /// Waits until so many have come.
    func wait(for count: Int) async {
      while asked < count { await Task.yield() }
    }
  }

  @Test("many probes ask Redis once, and all get its answer")
  func shares() async {
    let redis = Gate()
    let clock = Gate()
    let readiness = Readiness({ await redis.wait() }, pause: { _ = await clock.wait() })
    await withTaskGroup(of: String?.self) { group in
      for _ in 0..<20 { group.addTask { await readiness.reason() } }
      // Each has begun to wait once its clock runs.
      await clock.wait(for: 20)
      await redis.wait(for: 1)
      await redis.open(nil)
      for await reason in group { #expect(reason == nil) }
    }
    #expect(await redis.asked == 1)
    await clock.open(nil)
  }

  @Test("a Redis that does not answer in time is not ready, and is asked no second time meanwhile")
  func late() async {
    let redis = Gate()
    let clock = Gate()
    let readiness = Readiness({ await redis.wait() }, pause: { _ = await clock.wait() })
    for number in 1...3 {
      async let reason = readiness.reason()
      await clock.wait(for: number)
      await clock.open(nil)
      #expect(await reason?.contains("did not answer within") == true)
    }
    await redis.wait(for: 1)
    #expect(await redis.asked == 1)
    await redis.open("gone")
  }

  @Test("the reason is told")
  func away() async {
    let readiness = Readiness({ "Redis is away" }, pause: {})
    // Whichever comes first says that it is not ready.
    #expect(await readiness.reason() != nil)
  }
}
