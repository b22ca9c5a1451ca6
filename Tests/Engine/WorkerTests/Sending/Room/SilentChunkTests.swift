import Model
import Reactor
import TestSupport
import Testing

@testable import Worker

/// Chunks whose pushes wait for networks that nothing connects to.
@Suite struct SilentChunkTests {
  /// A chunk of one user with a device for each of these destinations.
  private static func chunk(
    to numbers: [Int], in runs: RunTable, slot: Int, on loop: EventLoop
  ) throws -> ChunkRun {
    let run = try Claims.run(
      ["a"], content: JobContent(notification: Notification(title: "Hi")), slot: slot)
    let chunk = ChunkRun(run)
    runs.add(chunk)
    _ = run.takeBatch(max: 1)
    run.beginRecipient(0)
    for number in numbers {
      let push = run.add(
        Push(
          token: run.arena.copy("token-\(number)"), user: run.lines[0], generation: 1,
          recipient: 0, network: .apns, environment: .production, attempt: 1,
          target: PushTarget(to: number), boundNs: loop.nowNs))
      run.confirmBinding(push, generation: 1, atNs: loop.nowNs)
    }
    run.endRecipient(0)
    return chunk
  }

  @Test("what is in flight to such a network hides nothing that waits for another one")
  func inFlight() async throws {
    try await TestLane.run { lane in
      let runs = RunTable()
      let sending = SendingParts(
        lane.loop, runs, try TestDirectory.of(.production, .development), LogLines().logger)
      defer { sending.close() }
      let (silent, other) = (
        sending.destinations.destination(0), sending.destinations.destination(1)
      )
      let chunk = try Self.chunk(to: [0, 1], in: runs, slot: 0, on: lane.loop)
      sending.router.queue(chunk.run, 0, silent)
      silent.use(TestDirectory.credential)
      silent.offer(1, TestRequests())
      #expect(chunk.run.inFlight == 1 && silent.queued == 0)
      sending.router.queue(chunk.run, 1, other)
      // Somebody else's push waits there, too.
      let beside = try Self.chunk(to: [0], in: runs, slot: 1, on: lane.loop)
      sending.router.queue(beside.run, 0, silent)
      await silent.loseTouch(on: lane.loop)
      #expect(silent.isSilent && !other.isSilent)
      #expect(sending.room.waitsInSilence(beside))
      #expect(!sending.room.waitsInSilence(chunk), "a push of it may leave at once")
      // Where that waits for the same network, the chunk does so as a whole.
      other.filterQueue { _ in false }
      sending.router.queue(chunk.run, 1, silent)
      #expect(sending.room.waitsInSilence(chunk))
      #expect(silent.queued == 2, "looking takes nothing out")
    }
  }
}
