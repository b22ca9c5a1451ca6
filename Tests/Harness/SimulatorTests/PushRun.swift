import Glibc
import HTTP2
import Reactor

/// One batch of pushes through a client pool; lives on the loop.
final class PushRun: TransportDelegate {
  struct Plan: @unchecked Sendable {
    let settings: ClientSettings
    let headers: [(name: String, value: String)]
    let count: Int
    let tokens: [String]
    let bodyBytes: Int
  }

  private struct Held: @unchecked Sendable { let run: PushRun }

  private let plan: Plan
  private let loop: EventLoop
  private let head: RequestHead
  private let body: UnsafeMutableRawBufferPointer
  private var pool: ClientPool!
  private var next = 0
  private var endings: [WireClient.Ending?]
  private var left: Int
  private var finish: (([WireClient.Ending]) -> Void)?
  /// Keeps the run alive while the pool, which does not, works for it.
  private var itself: PushRun?

  private init(_ plan: Plan, on loop: EventLoop) {
    self.plan = plan
    self.loop = loop
    head = RequestHead(authority: "localhost", path: nil, headers: plan.headers)
    let text = "{\"aps\":{\"alert\":\"" + String(repeating: "x", count: plan.bodyBytes) + "\"}}"
    body = .allocate(byteCount: text.utf8.count, alignment: 1)
    body.copyBytes(from: text.utf8)
    endings = Array(repeating: nil, count: plan.count)
    left = plan.count
    pool = ClientPool(loop: loop, settings: plan.settings, delegate: self)
  }

  deinit { body.deallocate() }

  static func run(_ plan: Plan, on loop: EventLoop) async -> [WireClient.Ending] {
    await withCheckedContinuation { continuation in
      loop.execute {
        let run = PushRun(plan, on: loop)
        run.itself = run
        run.finish = { continuation.resume(returning: $0) }
        run.pool.wake()
      }
    }
  }

  func transport(_ transport: any Transport, hasRoomFor count: Int, in taker: any RequestTaker) {
    var room = count
    while room > 0 && next < plan.count {
      var path = "/3/device/" + plan.tokens[next % plan.tokens.count]
      let isTaken = path.withUTF8 {
        taker.submit(
          head, path: UnsafeRawBufferPointer($0), body: RequestBody(before: .init(body)),
          tag: UInt64(next))
      }
      guard isTaken else { return }
      next += 1
      room -= 1
    }
  }

  func transport(_ transport: any Transport, replaced trouble: ConnectionTrouble) {}

  func transport(_ transport: any Transport, finished tag: UInt64, with answer: RequestAnswer)
    -> ConnectionSign
  {
    endings[Int(tag)] =
      switch answer.disposition {
      case .answered:
        .answered(
          answer.content.status, retryAfterSeconds: answer.content.retryAfter.seconds(nowMs: 0))
      case .unknown: .unknown
      case .notSent, .malformed: .notSent
      }
    left -= 1
    guard left == 0, let finish else { return .none }
    self.finish = nil
    finish(endings.map { $0! })
    // Not within the pool's own call: closing frees what it is still using.
    let timer = LoopTimer(loop: loop) { [self] in
      pool.close()
      itself = nil
    }
    timer.schedule(afterMs: 0)
    return .none
  }

  func transport(_ transport: any Transport, connectionOpened total: Int) {}

  func transport(_ transport: any Transport, connectionEnded end: ConnectionEnd) {
    if next < plan.count { pool.wake() }
  }
}

func nowSeconds() -> Int64 { Int64(time(nil)) }
