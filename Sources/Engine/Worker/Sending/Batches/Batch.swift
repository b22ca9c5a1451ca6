internal import HTTP2

/// Pushes that are sent in one request, and what is the request's own of its body: its id, and the device tokens.
///
/// A batch stays until the request has ended, since the request points into it.
final class Batch {
  /// The tags of its pushes (`PushTag`).
  let tags: [UInt64]
  /// The message that the pushes share; held here, since the request points into it, too.
  private let message: JobMessage
  private let own: UnsafeMutableRawBufferPointer
  /// Whether what is its own is all of the body.
  private let isFilled: Bool

  /// - Parameter filled: the body of pushes that say something of their own.
  init(_ tags: [UInt64], filled: [UInt8], message: JobMessage) {
    self.tags = tags
    self.message = message
    isFilled = true
    own = .allocate(byteCount: filled.count, alignment: 1)
    own.copyBytes(from: filled)
  }

  /// - Parameters:
  ///   - tokens: those of the tags, in their order.
  ///   - id: the request's; see `BatchID`.
  ///   - message: rendered for several pushes a request.
  init(
    _ tags: [UInt64], tokens: [UnsafeRawBufferPointer], id: [UInt8], message: JobMessage
  ) {
    guard let between = message.between else {
      preconditionFailure("a network that takes several pushes a request renders for several")
    }
    self.tags = tags
    self.message = message
    isFilled = false
    let bytes =
      id.count + between.idAndTokens.count + between.tokens.count * (tokens.count - 1)
      + tokens.reduce(0) { $0 + $1.count }
    own = .allocate(byteCount: bytes, alignment: 1)
    var offset = 0
    func append(_ piece: UnsafeRawBufferPointer) {
      UnsafeMutableRawBufferPointer(rebasing: own[offset...]).copyMemory(from: piece)
      offset += piece.count
    }
    id.withUnsafeBytes { append($0) }
    append(between.idAndTokens)
    for (index, token) in tokens.enumerated() {
      if index > 0 { append(between.tokens) }
      append(token)
    }
  }

  deinit { own.deallocate() }

  /// In place for as long as the batch is.
  var body: RequestBody {
    if isFilled { return RequestBody(before: UnsafeRawBufferPointer(own)) }
    return RequestBody(
      before: message.bodyBefore, own: UnsafeRawBufferPointer(own), after: message.bodyAfter)
  }
}
