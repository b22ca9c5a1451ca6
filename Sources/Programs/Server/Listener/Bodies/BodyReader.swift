internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1

/// Reads the body of a request, within the limits of its route and of the process.
struct BodyReader: ~Copyable {
  private let allowance: BodyAllowance
  /// The one whose body it is.
  private let caller: String
  /// Bytes that were taken from the allowance.
  private var taken = 0

  init(_ allowance: BodyAllowance, of caller: Caller) {
    self.allowance = allowance
    self.caller = caller.name.isEmpty ? caller.address : caller.name
  }

  deinit { allowance.giveBack(taken, of: caller) }

  /// The body is of no use any more.
  consuming func finish() {}

  /// - Parameter bytesMax: the longest that is read; 0 where none is taken.
  /// - Returns: the body. It counts as being in memory until `finish`, or until this reader is gone.
  mutating func read(
    _ request: Request, bytesMax: Int, on channel: any Channel
  ) async throws(Problem) -> [UInt8] {
    // The head was checked: one of the two at most, and a number.
    let declared = request.headers[.contentLength].flatMap { Int($0) }
    guard declared ?? 0 > 0 || request.headers.contains(.transferEncoding) else { return [] }
    // Libraries send an empty object where there is nothing to say.
    let isTaken = bytesMax > 0
    let bytesMax = isTaken ? bytesMax : ServerLimits.emptyBodyBytesMax
    guard declared ?? 0 <= bytesMax else { throw Self.tooLarge(bytesMax) }
    channel.triggerUserOutboundEvent(ConnectionEvent.bodyWanted, promise: nil)
    let bytes: [UInt8]
    do {
      bytes = try await collect(request.body, declared: declared, bytesMax: bytesMax)
    } catch {
      throw Self.problem(error)
    }
    guard bytes.count == declared ?? bytes.count else {
      throw .badRequest("the body ended before it was whole")
    }
    guard isTaken || Self.saysNothing(bytes) else {
      throw .badRequest("this takes no body, or {}")
    }
    return bytes
  }

  private mutating func collect(
    _ body: RequestBody, declared: Int?, bytesMax: Int
  ) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    // A length that is said and not sent takes no room from others.
    bytes.reserveCapacity(min(declared ?? 0, ServerLimits.reservedBodyBytesMax))
    for try await part in body {
      guard part.readableBytes <= bytesMax - bytes.count else { throw Self.tooLarge(bytesMax) }
      try take(part.readableBytes)
      bytes.append(contentsOf: part.readableBytesView)
    }
    return bytes
  }

  private mutating func take(_ count: Int) throws(Problem) {
    let isSmall = taken + count <= ServerLimits.reservedBodyBytesMax
    guard allowance.take(count, of: caller, isSmall: isSmall) else {
      throw .unavailable(
        "too many bodies, or too many of this caller, are being read at this moment: try again",
        retryAfterS: 1)
    }
    taken += count
  }

  private static func saysNothing(_ bytes: [UInt8]) -> Bool {
    let words = bytes.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return words.isEmpty || words == Array("{}".utf8)
  }

  private static func tooLarge(_ bytesMax: Int) -> Problem {
    Problem(413, "content too large", "a body here has at most \(bytesMax) bytes")
  }

  private static func problem(_ error: any Error) -> Problem {
    switch error {
    case let problem as Problem: problem
    case is BodyTooSlow:
      Problem(
        408, "request timeout",
        "the body did not come within \(ServerLimits.bodySeconds) s, nor "
          + "\(ServerLimits.bodyBytesPerSecondMin) bytes of it a second"
      )
    case let error as HTTPParserError: ConnectionGuard.problem(error)
    default: .badRequest("the body ended before it was whole")
    }
  }
}
