import Model
import Reactor
import Testing

@testable import Worker

/// The loop does not run, so that no time passes.
@Suite struct RateAllowanceTests {
  private final class Owner: RateAllowanceOwner {
    var waiting = 0
    var asked: [Int] = []
    var fillings = 0
    func waiting(for allowance: RateAllowance) -> Int { waiting }
    func allowance(_ allowance: RateAllowance, asksFor count: Int) { asked.append(count) }
    func allowanceWasFilled(_ allowance: RateAllowance) { fillings += 1 }
  }

  private let owner = Owner()

  private func allowance(perSecond: Double) throws -> RateAllowance {
    RateAllowance(
      limit: RateLimit(name: "app:shop", perSecond: perSecond), loop: try EventLoop(name: "test"),
      owner: owner)
  }

  @Test("it draws what waits, once at a time, and nothing while it has enough")
  func drawsWhatWaits() throws {
    let allowance = try allowance(perSecond: 1_000)
    allowance.refill()
    #expect(owner.asked.isEmpty)
    owner.waiting = 5
    allowance.refill()
    allowance.refill()
    #expect(owner.asked == [5] && allowance.available == 0)
    allowance.granted(5, retryMs: 0)
    #expect(allowance.available == 5 && owner.fillings == 1)
    allowance.refill()
    #expect(owner.asked == [5])
  }

  @Test("one that draws often draws twice as much each time, up to what its rate brings in 50 ms")
  func drawsAhead() throws {
    let allowance = try allowance(perSecond: 1_000)
    owner.waiting = 8
    for _ in 0..<4 {
      allowance.refill()
      allowance.granted(owner.asked.last ?? 0, retryMs: 0)
      allowance.spend(allowance.available)
    }
    #expect(owner.asked == [8, 16, 32, 50])
  }

  @Test("what is unused is kept beside what is granted, and spending ends at nothing")
  func adds() throws {
    let allowance = try allowance(perSecond: 1_000)
    owner.waiting = 5
    allowance.refill()
    allowance.granted(5, retryMs: 0)
    allowance.spend(2)
    allowance.refill()
    allowance.granted(10, retryMs: 0)
    #expect(allowance.available == 13)
    allowance.spend(20)
    #expect(allowance.available == 0)
  }

  @Test("when the fleet's rate has less than was asked for, it asks no more until it is told to")
  func waitsForRate() throws {
    let allowance = try allowance(perSecond: 1_000)
    owner.waiting = 5
    allowance.refill()
    allowance.granted(0, retryMs: 20)
    allowance.refill()
    #expect(owner.asked == [5] && owner.fillings == 0 && allowance.isWaiting)
    allowance.close()
    allowance.refill()
    #expect(owner.asked.count == 2)
  }

  @Test("when Redis could not be asked, it asks no more until a pause is over")
  func waitsForRedis() throws {
    let allowance = try allowance(perSecond: 1_000)
    owner.waiting = 5
    allowance.refill()
    allowance.failed()
    allowance.refill()
    #expect(owner.asked == [5] && allowance.available == 0)
    allowance.close()
  }

  @Test("what comes long after it was asked for is not sent with")
  func expires() throws {
    let allowance = try allowance(perSecond: 1_000)
    // It never asked: to it, that was when the machine started.
    allowance.granted(5, retryMs: 0)
    #expect(allowance.available == 0)
  }

  @Test(
    "pushes are set aside for as long as those before them take, in whole seconds, within bounds")
  func setsAside() throws {
    let allowance = try allowance(perSecond: 10)
    let delays = (0..<200).map { _ in allowance.setAsideMs() }
    #expect(delays[0] == WorkerLimits.limitedDelayMsMin)
    #expect(delays[19] == 2_000 && delays[20] == 3_000)
    #expect(delays[199] == WorkerLimits.limitedDelayMsMax)
  }

  @Test(
    "as many pushes may wait as the rate lets through in a quarter of a second, within bounds",
    arguments: [(1, 64), (1_000, 250), (1_000_000, 2_048)] as [(Double, Int)])
  func boundsQueue(perSecond: Double, pushes: Int) throws {
    #expect(try allowance(perSecond: perSecond).queueMax == pushes)
  }
}
