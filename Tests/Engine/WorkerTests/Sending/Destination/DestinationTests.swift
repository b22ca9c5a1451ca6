import HTTP2
import Logging
import Model
import Providers
import Reactor
import Testing

@testable import Worker

@Suite struct DestinationTests {
  /// Submits whatever may be sent, and keeps what it is told.
  private final class Owner: DestinationOwner {
    var submitted: [UInt64] = []
    var finished: [UInt64] = []
    var parked: [UInt64] = []
    var withdrawn: Set<UInt64> = []

    func submit(
      _ tag: UInt64, to destination: Destination, with credential: Credential,
      in taker: any RequestTaker
    ) -> Submission {
      guard !withdrawn.contains(tag) else { return .withdrawn }
      submitted.append(tag)
      return .sent
    }
    func submit(
      batch tags: [UInt64], to destination: Destination, with credential: Credential,
      in taker: any RequestTaker
    ) -> BatchSubmission {
      submitted += tags
      return .sent(tags.count)
    }
    func isAwaited(_ material: JobMaterial) -> Bool { false }
    func receive(_ answer: RequestAnswer, to tag: UInt64, from destination: Destination) {
      finished.append(tag)
    }
    func putAside(_ tags: [UInt64], of destination: Destination, forMs delayMs: UInt64) {
      parked += tags
    }
    func destinationHasWaiting(_ destination: Destination) {}
    func destinationRanLow(_ destination: Destination) {}
    func queuedSilent(upTo rank: Int) -> Int { 0 }
  }

  private let owner = Owner()
  private let lines = LogLines()
  private let destination: Destination

  init() throws {
    let entry = try TestDirectory.of(.production).entries[0]
    destination = Destination(
      entry: entry,
      settings: ClientSettings(
        endpoint: entry.provider.destination.endpoint, tls: entry.provider.destination.tls),
      loop: try EventLoop(name: "test"),
      journal: DestinationJournal(
        of: entry, reasons: ReasonLog(log: lines.logger), log: lines.logger),
      owner: owner)
  }

  @Test("pushes leave in order, high priority first, as many as there is room for")
  func ordersPushes() {
    defer { destination.close() }
    destination.use(TestDirectory.credential)
    destination.enqueue(1, rank: 2)
    destination.enqueue(2, rank: 1)
    destination.enqueue(3, rank: 0)
    destination.enqueue(4, rank: 1)
    owner.withdrawn = [2]
    destination.offer(2, TestRequests())
    #expect(owner.submitted == [3, 4])
    #expect(destination.queued == 1 && destination.queued(upTo: 1) == 0)
  }

  @Test("without a credential nothing is sent, and with one that is refused nothing more")
  func needsCredential() {
    defer { destination.close() }
    destination.enqueue(1, rank: 0)
    destination.offer(1, TestRequests())
    #expect(owner.submitted.isEmpty && destination.queued == 1)
    destination.use(TestDirectory.credential)
    destination.refuseCredential("InvalidProviderToken")
    #expect(destination.refusal?.generation == 1 && destination.credential == nil)
    destination.offer(1, TestRequests())
    #expect(owner.submitted.isEmpty)
    destination.use(
      Credential(header: nil, generation: 2, expiresAtMs: .max, refreshAtMs: .max))
    #expect(destination.refusal == nil)
    destination.offer(1, TestRequests())
    #expect(owner.submitted == [1])
  }

  @Test("the refusal of a credential that has been replaced since says nothing")
  func knowsOldRefusals() {
    defer { destination.close() }
    destination.use(TestDirectory.credential)
    let sentNsAgo = destination.loop.nowNs
    for _ in 0..<Authorization.provenRefusalsMax {
      _ = destination.credentialRefused(reason: "ExpiredProviderToken", sentNsAgo: sentNsAgo)
    }
    #expect(destination.refusal == nil && destination.credential != nil)
  }

  @Test("while a credential is paused what waits is put aside, and what comes is to be")
  func parksWhilePaused() {
    defer { destination.close() }
    destination.use(TestDirectory.credential)
    destination.enqueue(1, rank: 0)
    destination.enqueue(2, rank: 1)
    #expect(destination.pauseMs == nil)
    destination.pause(forMs: 60_000)
    #expect(owner.parked == [1, 2] && destination.queued == 0)
    #expect(destination.pauseMs == WorkerLimits.parkedDelayMs)
  }

  @Test("trouble that goes on opens the breaker: what waits is put aside, and operators hear why")
  func opensBreaker() {
    defer { destination.close() }
    destination.use(TestDirectory.credential)
    destination.enqueue(1, rank: 0)
    var answers = 0
    while destination.health.troubleReason == nil, answers < 1_000 {
      _ = destination.noteTrouble(elapsedNs: 0, retryAfterMs: nil, reason: "503")
      answers += 1
    }
    #expect(destination.health.troubleReason == "503" && lines.all.count == 1)
    #expect(lines.has(.error, "is in trouble: its pushes wait", ["reason": "503"]))
    #expect(owner.parked == [1] && destination.pauseMs != nil)
    destination.offer(10, TestRequests())
    #expect(owner.submitted.isEmpty)
  }

  @Test("a refusal of the app's setup weighs on its connection no more than other trouble")
  func weighsSetup() {
    defer { destination.close() }
    destination.use(TestDirectory.credential)
    destination.noteAccept()
    _ = destination.noteRefusal("TopicDisallowed", isSure: true, elapsedNs: 0)
    #expect(destination.reports.sign == .trouble)
  }

  @Test("as many pushes as may wait to be tried apart, and no more")
  func boundsApart() {
    defer { destination.close() }
    for tag in 0..<WorkerLimits.apartPushesMax {
      #expect(destination.enqueueApart(UInt64(tag), rank: 1))
    }
    #expect(!destination.enqueueApart(1_000, rank: 1))
    #expect(destination.queued == 0)
  }

  @Test("a job in quarantine leaves it when one of its requests was answered")
  func endsQuarantine() {
    defer { destination.close() }
    #expect(destination.note(.accusedWithOthers, ofJob: "sale"))
    #expect(!destination.note(.accusedWithOthers, ofJob: "sale"))
    #expect(destination.quarantine.jobs == 1)
    destination.noteAnswer(toJob: "other")
    #expect(destination.quarantine.jobs == 1)
    destination.noteAnswer(toJob: "sale")
    #expect(destination.quarantine.jobs == 0)
  }

  @Test("what is withdrawn leaves the queue, the rest keeps its order")
  func filters() {
    defer { destination.close() }
    destination.use(TestDirectory.credential)
    for tag in 1...4 { destination.enqueue(UInt64(tag), rank: 1) }
    destination.filterQueue { $0 % 2 == 0 }
    destination.offer(10, TestRequests())
    #expect(owner.submitted == [2, 4])
  }
}
