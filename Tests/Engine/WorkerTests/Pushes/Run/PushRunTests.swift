import Model
import Store
import Testing

@testable import Worker

@Suite struct PushRunTests {
  @Test("a user is done when all devices have an outcome, and each outcome is told once")
  func countsDevices() throws {
    let run = try Claims.run(["a", "b"])
    #expect(run.takeBatch(max: 10) == 0..<2)
    let pushes = run.resolve(0, devices: 3)
    run.decide(pushes[0], .accepted)
    run.decide(pushes[1], .rejected)
    #expect(!run.hasNews)
    #expect(run.takeNews(isFinal: false).isEmpty)
    run.decide(pushes[2], .accepted)
    #expect(run.hasNews)
    let news = run.takeNews(isFinal: false)
    #expect(news.counts[.apns]?.accepted == 2)
    #expect(news.counts[.apns]?.rejected == 1)
    #expect(news.totalDelta == 2)
    #expect(news.done.contains(0))
    #expect(!news.done.contains(1))
    #expect(!run.isFinished)
    #expect(!run.hasNews)
    #expect(run.takeNews(isFinal: false).isEmpty)
  }

  @Test("a user without a device is done at once, and counted as such")
  func countsUsersWithoutDevice() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 10)
    _ = run.resolve(0, devices: 0)
    let pushes = run.resolve(1, devices: 1)
    run.decide(pushes[0], .accepted)
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.noInstallations == 1)
    #expect(news.totalDelta == -1)
    #expect(news.counts[.apns]?.settled == 1)
    #expect(news.isFinal)
  }

  @Test("a push is decided once: what comes later changes nothing")
  func decidesOnce() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 1)
    run.decide(pushes[0], .accepted)
    run.decide(pushes[0], .failed)
    run.decideLater(pushes[0], delayMs: 10, attempt: 1)
    run.decideInvalid(pushes[0], reason: "Unregistered", sinceMs: nil)
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.counts[.apns]?.settled == 1)
    #expect(news.residuals.isEmpty)
    #expect(news.invalidations.isEmpty)
    #expect(run.openPushes == 0)
  }

  @Test("a device that is tried later becomes a residual line; its sibling is not repeated")
  func retriesOneDevice() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 2)
    run.decide(pushes[0], .accepted)
    run.decideLater(pushes[1], delayMs: 300, attempt: 1)
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.retries == 1)
    // In quarters of a second.
    #expect(news.residuals.map(\.delayMs) == [500])
    let text = String(decoding: try #require(news.residuals.first).lines, as: UTF8.self)
    #expect(text == "apns\tproduction\ttoken-0-1\ta\t0\t1\n")
  }

  @Test("what is put aside without having been tried burns no attempt and counts no retry")
  func parksWithoutAttempt() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 1)
    run.decideLater(pushes[0], delayMs: 0, attempt: 0)
    let news = run.takeNews(isFinal: true)
    #expect(news.retries == 0)
    let text = String(decoding: try #require(news.residuals.first).lines, as: UTF8.self)
    #expect(text.hasSuffix("\t0\n"))
  }

  @Test("pushes that wait equally long share one residual")
  func groupsResiduals() throws {
    let run = try Claims.run(["a", "b", "c"])
    _ = run.takeBatch(max: 3)
    for (recipient, delayMs) in [(0, 1_000), (1, 900), (2, 2_000)] {
      let pushes = run.resolve(recipient, devices: 1)
      run.decideLater(pushes[0], delayMs: UInt64(delayMs), attempt: 1)
    }
    let news = run.takeNews(isFinal: true)
    #expect(news.residuals.map(\.delayMs).sorted() == [1_000, 2_000])
    #expect(news.retries == 3)
    #expect(run.jitter(attempt: 1) == run.jitter(attempt: 1))
  }

  @Test(
    "what is tried later is told at the chunk's end, together; what is done meanwhile is told without it"
  )
  func postpones() throws {
    let run = try Claims.run(["a", "b", "c"])
    _ = run.takeBatch(max: 3)
    let pushes = (0..<3).map { run.resolve($0, devices: 1)[0] }
    run.decideLater(pushes[0], delayMs: 2_000, attempt: 1)
    #expect(!run.hasNews)
    run.decide(pushes[1], .accepted)
    #expect(run.hasNews)
    let early = run.takeNews(isFinal: false)
    #expect(early.residuals.isEmpty && early.counts[.apns]?.accepted == 1)
    #expect(!early.done.contains(0) && early.done.contains(1))
    #expect(!run.hasNews && !run.isFinished)
    run.decideLater(pushes[2], delayMs: 2_000, attempt: 1)
    #expect(run.isFinished)
    let last = run.takeNews(isFinal: true)
    #expect(last.residuals.count == 1)
    let text = String(decoding: try #require(last.residuals.first).lines, as: UTF8.self)
    #expect(text.split(separator: "\n").count == 2)
    #expect(last.done.contains(0) && last.done.contains(2))
  }

  @Test("what would come too late with others is told without them")
  func tellsHurried() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let pushes = (0..<2).map { run.resolve($0, devices: 1)[0] }
    run.decideLater(pushes[0], delayMs: 2_000, attempt: 1, isHurried: true)
    #expect(run.hasNews)
    #expect(run.takeNews(isFinal: false).residuals.count == 1)
  }

  @Test("a chunk that is stopped tells at once what is tried later")
  func tellsPostponedWhenStopped() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 1)
    run.decideLater(run.resolve(0, devices: 1)[0], delayMs: 2_000, attempt: 1)
    #expect(!run.hasNews)
    run.change(to: .paused)
    #expect(run.hasNews)
    #expect(run.takeNews(isFinal: false).residuals.count == 1)
  }

  @Test("an invalid token is told with the generation that was tried, and the time of death")
  func tellsVerdict() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    _ = run.resolve(0, devices: 0)
    let pushes = run.resolve(1, devices: 1)
    run.confirmBinding(pushes[0], generation: 77, atNs: 5)
    run.decideInvalid(pushes[0], reason: "Unregistered", sinceMs: 123)
    let invalid = try #require(run.takeNews(isFinal: true).invalidations.first)
    #expect(invalid.token == "token-1-0")
    #expect(invalid.user == "b")
    #expect(invalid.generation == 77)
    #expect(invalid.sinceMs == 123)
    #expect(invalid.reason == "Unregistered")
  }

  @Test("recipients that were settled before a crash are not resolved again")
  func skipsDone() throws {
    // Lines 0 and 2 of 4.
    let run = try Claims.run(["a", "b", "c", "d"], done: [0b1010_0000])
    #expect(run.openRecipients == 2)
    #expect(run.takeBatch(max: 10) == 1..<2)
    #expect(run.takeBatch(max: 10) == 3..<4)
    #expect(run.isResolved)
    for recipient in [1, 3] {
      let pushes = run.resolve(recipient, devices: 1)
      run.decide(pushes[0], .accepted)
    }
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 2)
    #expect(news.done.count == 4)
  }

  @Test("a run that crashes before its settlement has told nothing")
  func tellsNothingBefore() throws {
    let claim = try Claims.claim(["a", "b"])
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let pushes = run.resolve(0, devices: 1)
    run.decide(pushes[0], .accepted)
    // Nothing but the settlement carries it: the chunk, claimed again, is as it was.
    #expect(claim.done.count == 0)
    #expect(run.claim.done.count == 0)
    #expect(run.hasNews)
  }

  @Test("after a cancel nothing is resolved, and the rest counts as skipped, one per recipient")
  func cancels() throws {
    let run = try Claims.run(["a", "b", "c", "d"])
    #expect(run.takeBatch(max: 1) == 0..<1)
    let pushes = run.resolve(0, devices: 2)
    run.change(to: .cancelled)
    #expect(!run.wantsResolving)
    #expect(!run.isFinished)
    run.decide(pushes[0], .accepted)
    run.decide(pushes[1], .skipped)
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.counts[.apns]?.skipped == 1 && news.skippedUnread == 3)
    #expect(news.totalDelta == 1)
    #expect(news.done.count == 4)
  }

  @Test("a cancel skips around what a crashed worker had settled")
  func cancelsAroundDone() throws {
    let run = try Claims.run(["a", "b", "c", "d"], done: [0b0101_0000])
    run.change(to: .cancelled)
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.skippedUnread == 2)
    #expect(news.done.count == 4)
  }

  @Test("a cancel that comes while a batch is being read, which then fails, ends the run")
  func cancelsWhileReading() throws {
    let run = try Claims.run(["a", "b", "c"])
    let batch = run.takeBatch(max: 2)
    run.change(to: .cancelled)
    #expect(!run.isFinished)
    run.returnBatch(batch)
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.skippedUnread == 3)
  }

  @Test("a batch whose reading failed is taken again")
  func returnsBatch() throws {
    let run = try Claims.run(["a", "b", "c"])
    let batch = run.takeBatch(max: 2)
    #expect(batch == 0..<2)
    run.returnBatch(batch)
    #expect(run.takeBatch(max: 2) == batch)
    #expect(run.takeBatch(max: 2) == 2..<3)
  }

  @Test("outcomes are counted by network")
  func countsByNetwork() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let first = run.resolve(0, devices: 1, network: .apns)
    let second = run.resolve(1, devices: 2, network: .fcm)
    for push in first + second { run.decide(push, .accepted) }
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.counts[.fcm]?.accepted == 2)
    #expect(news.counts[.jpush] == nil)
  }

  @Test("answers and misfits are told once, by network and environment")
  func talliesAnswers() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 3)
    for push in pushes { run.noteAnswer(push) }
    run.noteMisfit(pushes[0])
    run.decideDoubtful(pushes[0], reason: "BadDeviceToken")
    run.decide(pushes[1], .rejected)
    run.decide(pushes[2], .accepted)
    let tally = try #require(run.takeNews(isFinal: true).tallies.first)
    #expect(tally.network == .apns && tally.environment == .production)
    #expect(tally.answers == 3)
    #expect(tally.misfits == 1)
    #expect(run.takeNews(isFinal: true).tallies.isEmpty)
  }

  @Test("a token that the other environment accepts is told to be relabelled, and is no misfit")
  func relabels() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 1)
    run.noteAnswer(pushes[0])
    run.noteMisfit(pushes[0])
    run.redirect(pushes[0], to: PushTarget(to: 1))
    #expect(run.pushes[pushes[0]].target.number == 1)
    run.noteAnswer(pushes[0])
    run.decide(pushes[0], .accepted)
    let news = run.takeNews(isFinal: true)
    #expect(news.counts[.apns]?.accepted == 1)
    #expect(news.tallies.map(\.answers) == [1])
    #expect(news.tallies.map(\.misfits) == [0])
    let relabelling = try #require(news.relabellings.first)
    #expect(relabelling.token == "token-0-0")
    #expect(relabelling.user == "a")
    #expect(relabelling.environment == .development)
  }

  @Test("a retry of a push that was tried in the other environment starts from its own again")
  func retriesAstray() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 1)
    run.redirect(pushes[0], to: PushTarget(to: 1))
    run.decideLater(pushes[0], delayMs: 0, attempt: 1)
    let news = run.takeNews(isFinal: true)
    #expect(news.relabellings.isEmpty)
    let text = String(decoding: try #require(news.residuals.first).lines, as: UTF8.self)
    #expect(text == "apns\tproduction\ttoken-0-0\ta\t0\t1\n")
  }

  @Test(
    "a push that was put aside before it was tried in the other environment comes back for that")
  func putAsideAstray() throws {
    let run = try Claims.run(["a"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 1)
    run.redirect(pushes[0], to: PushTarget(to: 1))
    run.decideLater(pushes[0], delayMs: 0, attempt: 0)
    let news = run.takeNews(isFinal: true)
    let text = String(decoding: try #require(news.residuals.first).lines, as: UTF8.self)
    #expect(text == "apns\tdevelopment\ttoken-0-0\ta\t0\t0\n" && news.retries == 0)
  }

  @Test("doubtful tokens are settled at the end of the chunk, when it shows how many they are")
  func holdsDoubtful() throws {
    let run = try Claims.run(["a", "b", "c"])
    _ = run.takeBatch(max: 3)
    let first = run.resolve(0, devices: 1)
    let second = run.resolve(1, devices: 1)
    run.decideDoubtful(first[0], reason: "BadDeviceToken")
    #expect(!run.hasNews)
    run.decide(second[0], .accepted)
    let early = run.takeNews(isFinal: false)
    #expect(early.done.count == 1)
    #expect(early.invalidations.isEmpty)
    let third = run.resolve(2, devices: 1)
    run.decide(third[0], .accepted)
    #expect(run.isFinished)
    #expect(run.takeNews(isFinal: true).invalidations.map(\.reason) == ["BadDeviceToken"])
  }

  @Test(
    "of users with many devices no more doubtful tokens are held than one settlement should bring")
  func boundsHeldTokens() throws {
    let users = (0..<20).map { "u\($0)" }
    let run = try Claims.run(users)
    _ = run.takeBatch(max: users.count)
    var most = 0
    for user in users.indices {
      for push in run.resolve(user, devices: 30) {
        run.decideDoubtful(push, reason: "BadDeviceToken")
      }
      if run.hasNews { most = max(most, run.takeNews(isFinal: false).invalidations.count) }
    }
    #expect(most >= WorkerLimits.checkpointResults)
    #expect(most < WorkerLimits.checkpointResults + 30, "\(most) tokens are settled at once")
  }

  @Test("a chunk that is handed back has settled its doubtful tokens", arguments: [true, false])
  func releasesDoubtfulOnPause(pausesFirst: Bool) throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 1)
    if pausesFirst { run.change(to: .paused) }
    run.decideDoubtful(pushes[0], reason: "BadDeviceToken")
    if !pausesFirst { run.change(to: .paused) }
    #expect(run.openPushes == 0)
    #expect(run.hasNews)
    #expect(run.takeNews(isFinal: false).invalidations.count == 1)
    #expect(run.openRecipients == 1)
  }

  @Test("a doubtful token is settled too when the recipients after it are skipped")
  func releasesDoubtfulWhenRestIsSkipped() throws {
    let run = try Claims.run(["a", "b"])
    _ = run.takeBatch(max: 2)
    let pushes = run.resolve(0, devices: 1)
    run.decideDoubtful(pushes[0], reason: "BadDeviceToken")
    run.skipRecipient(1, network: .fcm, because: .notBound)
    #expect(run.isFinished)
    let news = run.takeNews(isFinal: true)
    #expect(news.invalidations.count == 1)
    #expect(news.counts[.fcm]?.skipped == 1)
  }
}
