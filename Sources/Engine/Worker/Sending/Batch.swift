internal import HTTP2

/// Pushes that are sent in one request, and what is the request's own of its body: its id, and the device tokens.
///
/// It stays until the request has ended, since the request points into it.
final class Batch {
  /// Of its pushes (`PushTag`).
  let tags: [UInt64]
  /// What the pushes share; held here, since the request points into it, too.
  private let message: JobMaterial.Message
  private let own: UnsafeMutableRawBufferPointer

  /// - Parameters:
  ///   - tokens: those of the tags, in their order.
  ///   - id: the request's; see `BatchID`.
  ///   - message: rendered for several pushes a request.
  init(
    _ tags: [UInt64], tokens: [UnsafeRawBufferPointer], id: [UInt8], message: JobMaterial.Message
  ) {
    guard let between = message.between else {
      preconditionFailure("a network that takes several pushes a request renders for several")
    }
    self.tags = tags
    self.message = message
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
    RequestBody(
      before: message.bodyBefore, own: UnsafeRawBufferPointer(own), after: message.bodyAfter)
  }
}
