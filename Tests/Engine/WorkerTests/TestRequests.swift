import HTTP2
import Reactor
import Testing

@testable import Worker

/// Takes requests as a connection does, and keeps them.
final class TestRequests: RequestTaker {
  var room = Int.max
  private(set) var taken: [(path: String, body: String, tag: UInt64)] = []

  var paths: [String] { taken.map(\.path) }
  var bodies: [String] { taken.map(\.body) }

  /// The tag of the request with this number, from 0.
  func tag(_ number: Int) throws -> UInt64 {
    try #require(number < taken.count, "too few requests")
    return taken[number].tag
  }

  func submit(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64
  ) -> Bool {
    guard taken.count < room else { return false }
    var body = body
    let bytes = [UInt8](unsafeUninitializedCapacity: body.count) { target, count in
      count = body.take(into: UnsafeMutableRawBufferPointer(target))
    }
    taken.append(
      (String(decoding: path, as: UTF8.self), String(decoding: bytes, as: UTF8.self), tag))
    return true
  }
}

/// Stands where a destination's own connections would.
final class TestTransport: Transport {
  let inFlight = 0
  let readyConnections = 1
  let streamsMax = 100
  let idleSinceNs: UInt64? = nil
  func wake(waiting: Int) {}
  func rest() {}
  func closeIdle() {}
  func shed() -> Bool { false }
  func close() {}
}

extension Destination {
  /// Beats until it is known that nothing connects to it, for which pushes must wait.
  func loseTouch(on loop: EventLoop) async {
    while !isOutOfTouch {
      checkReachable()
      await loop.sleep(ms: 20)
    }
    checkReachable()
  }

  /// Offers its pushes room.
  func offer(_ count: Int, _ requests: TestRequests) {
    transport(TestTransport(), hasRoomFor: count, in: requests)
  }

  /// Answers a request. - Returns: what that says of its connection.
  @discardableResult
  func answer(
    _ tag: UInt64, _ status: Int, _ body: String = "", retryAfter: String? = nil,
    elapsedNs: UInt64 = 1_000, on carrier: any Transport = TestTransport()
  ) -> ConnectionSign {
    Array(body.utf8).withUnsafeBytes { body in
      transport(
        carrier, finished: tag,
        with: RequestAnswer(
          .answered,
          RequestAnswer.Content(
            status: status, retryAfter: RetryAfter(value: retryAfter, date: nil), body: body),
          elapsedNs: elapsedNs))
    }
  }

  /// Has the network refuse what requests are authorised with until it is given up.
  func refuseCredential(_ reason: String) {
    for _ in 0..<Authorization.provenRefusalsMax where credential != nil {
      _ = credentialRefused(reason: reason, sentNsAgo: 0)
    }
  }

  /// Ends a request without an answer. - Returns: what that says of its connection.
  @discardableResult
  func end(
    _ tag: UInt64, _ disposition: RequestAnswer.Disposition, isRefused: Bool = false,
    isAccused: Bool = false, isCutOff: Bool = false, elapsedNs: UInt64 = 1_000,
    on carrier: any Transport = TestTransport()
  ) -> ConnectionSign {
    transport(
      carrier, finished: tag,
      with: RequestAnswer(
        disposition,
        failure: RequestAnswer.Failure(
          isRefused: isRefused, isAccused: isAccused, isCutOff: isCutOff), elapsedNs: elapsedNs))
  }
}
