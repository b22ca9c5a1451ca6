import Model
import Store
import Testing

@testable import Worker

/// Users some of whose devices have answered while others have not.
@Suite struct PartlyDoneUserTests {
  @Test("when the chunk is set aside, answered devices are told and silent ones stay open")
  func tellsAnsweredDevices() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 3)
    run.decide(pushes[0], .accepted)
    run.decide(pushes[2], .rejected)
    run.change(to: .paused)
    #expect(run.hasNews)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.counts[.apns]?.rejected == 1)
    // The user stood in the total as one; three devices do now, two of which have an outcome.
    #expect(news.totalDelta == 2)
    #expect(news.done.contains(0))
    #expect(
      String(decoding: news.stillOpen, as: UTF8.self) == "apns\tproduction\ttoken-0-1\ta\t0\t0\n")
    #expect(run.openPushes == 1)
    #expect(!run.isFinished)
    #expect(!run.hasNews)
  }

  @Test("a silent device is told when it answers, as a line of its own behind the users")
  func tellsLateDevice() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let first = run.resolve(0, devices: 2)
    let second = run.resolve(1, devices: 1)
    run.decide(first[0], .accepted)
    run.change(to: .paused)
    _ = run.takeNews(isFinal: false)
    run.decide(first[1], .accepted)
    #expect(run.hasNews)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.totalDelta == 0)
    #expect(news.stillOpen.isEmpty)
    // Lines 0 and 1 are the users, line 2 is the device.
    #expect(news.done.contains(0) && !news.done.contains(1) && news.done.contains(2))
    #expect(!run.isFinished)
    run.decide(second[0], .accepted)
    #expect(run.isFinished)
    #expect(run.takeNews(isFinal: true).done.count == 3)
  }

  @Test("a user is told once, however often its silent device is looked at")
  func tellsUserOnce() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let first = run.resolve(0, devices: 2)
    let second = run.resolve(1, devices: 2)
    run.change(to: .paused)
    run.decide(first[0], .accepted)
    _ = run.takeNews(isFinal: false)
    run.decide(second[0], .accepted)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.totalDelta == 1)
    #expect(news.stillOpen.split(separator: UInt8(ascii: "\n")).count == 1)
    #expect(run.openRecipients == 2)
  }

  @Test("a chunk that comes back with other lines than were told is not the run's any more")
  func noticesOtherLines() throws {
    let run = try Claims.run(["a", "b"])
    let chunk = ChunkRun(run)
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 2)
    #expect(chunk.agrees(with: try Claims.claim(["a", "b"])))
    run.decide(pushes[0], .accepted)
    run.change(to: .paused)
    _ = run.takeNews(isFinal: false)
    let device = "apns\tproduction\ttoken-0-1\ta\t0\t0"
    #expect(chunk.agrees(with: try Claims.claim(["a", "b", device])))
    // The settlement that tells of it may still be on its way.
    #expect(chunk.agrees(with: try Claims.claim(["a", "b"])))
    run.confirmNews()
    #expect(chunk.agrees(with: try Claims.claim(["a", "b", device])))
    #expect(!chunk.agrees(with: try Claims.claim(["a", "b"])))
    #expect(
      !chunk.agrees(with: try Claims.claim(["a", "b", device.replacing("0-1", with: "0-0")])))
  }

  @Test("a hundred answers are told, however many users they belong to")
  func tellsManyAnswers() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let pushes = run.resolve(0, devices: 60) + run.resolve(1, devices: 60)
    for push in pushes.prefix(49) { run.decide(push, .accepted) }
    #expect(!run.hasNews)
    for push in pushes[49..<59] { run.decide(push, .accepted) }
    for push in pushes.dropFirst(60).prefix(41) { run.decide(push, .accepted) }
    #expect(run.hasNews)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 100)
    #expect(news.totalDelta == 118)
    #expect(news.stillOpen.split(separator: UInt8(ascii: "\n")).count == 20)
    #expect(run.openRecipients == 20)
  }

  @Test("a few answers wait for their users' other devices, as long as a result may wait")
  func waitsForSiblings() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 2)
    #expect(run.settleWithinMs == WorkerLimits.checkpointMs)
    run.decide(pushes[0], .accepted)
    #expect(!run.hasNews)
    // Twice that is how long a result waits at most.
    #expect(run.settleWithinMs == WorkerLimits.checkpointMs / 2)
    run.decide(pushes[1], .accepted)
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 2)
    #expect(news.totalDelta == 1)
    #expect(news.stillOpen.isEmpty)
    #expect(run.settleWithinMs == WorkerLimits.checkpointMs)
  }

  @Test("lines of devices that a lost worker had open are resolved as installations, not as users")
  func resolvesLeftDevices() throws {
    let device = "apns\tproduction\ttoken-0-1\ta\t7\t1"
    // User a is done, b and the device are not.
    let run = try Claims.run(["a", "b", device, device + "2"], done: [0b1000_0000])
    #expect(run.openRecipients == 3)
    let users = run.takeBatch(max: 10)
    #expect(users == 1..<2)
    #expect(run.lines(of: users.lowerBound) == .users)
    let devices = run.takeBatch(max: 10)
    #expect(devices == 2..<4)
    #expect(run.lines(of: devices.lowerBound) == .installations)
    #expect(run.isResolved)
    let pushes = [2, 3].flatMap { run.resolve($0, devices: 1) } + run.resolve(1, devices: 0)
    for push in pushes { run.decide(push, .accepted) }
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 2)
    #expect(news.totalDelta == -1)
    #expect(news.noInstallations == 1)
  }

  @Test("a doubtful token keeps none of its user's other outcomes waiting")
  func tellsSiblingsOfDoubtful() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let first = run.resolve(0, devices: 3)
    let second = run.resolve(1, devices: 1)
    run.decide(first[0], .accepted)
    run.decideDoubtful(first[1], reason: "BadDeviceToken")
    run.decide(first[2], .accepted)
    #expect(run.hasNews)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 2)
    #expect(news.invalidations.isEmpty)
    #expect(news.totalDelta == 2)
    #expect(String(decoding: news.stillOpen, as: UTF8.self).contains("token-0-1"))
    run.decide(second[0], .accepted)
    #expect(run.isFinished)
    let rest = run.takeNews(isFinal: true)
    #expect(rest.invalidations.map(\.token) == ["token-0-1"])
    #expect(rest.totalDelta == 0)
    #expect(rest.done.count == 3)
  }

  @Test("after a cancel each open device of a partly done user is skipped by itself")
  func cancelsDeviceByDevice() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 3)
    run.decide(pushes[0], .accepted)
    run.change(to: .cancelled)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.skippedUnread == 1)
    #expect(news.totalDelta == 2)
    for push in pushes.dropFirst() { run.decide(push, .skipped) }
    #expect(run.isFinished)
    let rest = run.takeNews(isFinal: true)
    #expect(rest.counts[.apns]?.skipped == 2)
    #expect(rest.totalDelta == 0)
  }
}
