import CurlTransport
import HTTP2
import LocalServices
import Reactor
import TestSupport

/// Sends a number of requests through a pool and records how each ended; loop-bound.
final class TestSender: TransportDelegate {
  /// How a request ended, with its body copied.
  struct Ending: Equatable {
    var disposition: RequestAnswer.Disposition
    var status = 0
    var retryAfterSeconds: Int?
    var body = ""
    var isBodyCut = false
    var isAccepted = false
    var contentType = ""

    static let yes = Ending(disposition: .answered, status: 200)
    static let notSent = Ending(disposition: .notSent)
    static let unknown = Ending(disposition: .unknown)
    static let malformed = Ending(disposition: .malformed)
  }

  private(set) var transport: (any Transport)!
  private let proxy: TunnelProxy?
  private let occurrences: Occurrences
  var head = RequestHead(
    authority: "localhost", path: nil, headers: [("apns-topic", "com.example.app")])
  var path: (Int) -> [UInt8] = { Array("/3/device/\($0)".utf8) }
  /// The up to three pieces of every request's body.
  var pieces = [StableBytes([UInt8](repeating: 97, count: 300))]
  /// Requests to begin, and those begun so far.
  var wanted = 0
  private(set) var submitted = 0
  private(set) var endings: [Int: [Ending]] = [:]
  private(set) var finished = 0
  /// Of those that finished, how many were answered with 200.
  private(set) var accepted = 0
  private(set) var opened = 0
  private(set) var connectionEnds: [ConnectionEnd] = []
  var onRoom: ((any RequestTaker) -> Void)?
  private(set) var troubles: [ConnectionTrouble] = []
  var onFinish: ((Int, Ending) -> Void)?
  /// What an ending says of its connection.
  var sign: (Ending) -> ConnectionSign = { $0.status == 200 ? .good : .none }

  init(
    loop: EventLoop, settings: ClientSettings, kind: TransportKind = .native,
    occurrences: Occurrences
  ) throws {
    self.occurrences = occurrences
    proxy = kind == .proxied ? try TunnelProxy(loop: loop, way: .http) : nil
    var settings = settings
    if let proxy { settings.proxy = proxy.server() }
    transport =
      switch kind {
      case .native, .proxied: ClientPool(loop: loop, settings: settings, delegate: self)
      case .curl: CurlPool(loop: loop, settings: settings, delegate: self)
      }
  }

  func close() {
    transport.close()
    proxy?.close()
  }

  /// The worker's own transport.
  var pool: ClientPool! { transport as? ClientPool }

  /// Begins so many more requests, as the pool has room.
  func send(_ count: Int) {
    wanted += count
    transport.wake(waiting: wanted - submitted)
  }

  /// The endings of requests that ended exactly once, in order; the others are missing.
  var endedOnce: [Ending] {
    (0..<submitted).compactMap { endings[$0]?.count == 1 ? endings[$0]![0] : nil }
  }

  func count(_ ending: Ending) -> Int { endedOnce.count { $0 == ending } }

  private var body: RequestBody {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    return RequestBody(
      before: pieces[0].raw, own: pieces.count > 1 ? pieces[1].raw : none,
      after: pieces.count > 2 ? pieces[2].raw : none)
  }

  func transport(_ transport: any Transport, hasRoomFor count: Int, in taker: any RequestTaker) {
    onRoom?(taker)
    for _ in 0..<count where submitted < wanted {
      let isTaken = path(submitted).withUnsafeBytes {
        taker.submit(
          head, path: $0, body: body, tag: UInt64(submitted))
      }
      guard isTaken else { return }
      submitted += 1
    }
  }

  func transport(_ transport: any Transport, finished tag: UInt64, with answer: RequestAnswer)
    -> ConnectionSign
  {
    // What a sender does on each end: ask what is in flight, and say that there is more.
    precondition(transport.inFlight >= 0)
    let ending = Ending(
      disposition: answer.disposition, status: answer.content.status,
      retryAfterSeconds: answer.content.retryAfter.seconds(nowMs: 946_684_000_000),
      body: String(decoding: answer.content.body, as: UTF8.self),
      isBodyCut: answer.content.isBodyCut,
      isAccepted: answer.content.isAccepted,
      contentType: String(decoding: answer.content.contentType, as: UTF8.self))
    endings[Int(tag), default: []].append(ending)
    finished += 1
    if ending == .yes { accepted += 1 }
    onFinish?(Int(tag), ending)
    occurrences.note()
    return sign(ending)
  }

  func transport(_ transport: any Transport, replaced trouble: ConnectionTrouble) {
    troubles.append(trouble)
    occurrences.note()
  }

  func transport(_ transport: any Transport, connectionOpened total: Int) {
    opened += 1
    occurrences.note()
  }

  func transport(_ transport: any Transport, connectionEnded end: ConnectionEnd) {
    connectionEnds.append(end)
    occurrences.note()
  }
}
