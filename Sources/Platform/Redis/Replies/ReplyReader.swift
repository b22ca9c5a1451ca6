internal import CHiredis

/// hiredis' reply parser with bounds of our own: bytes in, replies of RESP2 out.
final class ReplyReader {
  private let raw: OpaquePointer
  private let bytesMax: Int

  init(bytesMax: Int = RedisLimits.replyBytesMax) {
    // An element takes more room in memory than on the wire, where it may be as short as four bytes.
    guard
      let raw = chiredis_reader_create(
        RedisLimits.replyElementsMax, CInt(RedisLimits.replyDepthMax),
        bytesMax * RedisLimits.replyMemoryFactorMax)
    else {
      preconditionFailure("there is no memory for a Redis connection")
    }
    self.raw = raw
    self.bytesMax = bytesMax
  }

  deinit { chiredis_reader_free(raw) }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
    guard waiting + bytes.count <= bytesMax else {
      throw .protocolViolation("a reply of more than \(bytesMax) bytes")
    }
    let chars = bytes.assumingMemoryBound(to: CChar.self)
    guard chiredis_reader_feed(raw, chars.baseAddress, chars.count) == REDIS_OK else {
      throw failure
    }
  }

  /// Calls the body with the next complete reply, which is gone afterwards.
  /// - Returns: false when more bytes are needed.
  func next(_ body: (RedisReply) -> Void) throws(RedisError) -> Bool {
    var reply: UnsafeMutablePointer<redisReply>?
    guard chiredis_reader_next(raw, &reply) == REDIS_OK else { throw failure }
    guard let reply else { return false }
    body(RedisReply(reply))
    return true
  }

  /// Bytes that are here and not read, as those of a string that is not complete.
  var waiting: Int { chiredis_reader_waiting(raw) }

  /// The part that is there of the reply that `next` found incomplete, gone with the next bytes.
  var beginning: RedisReply? { chiredis_reader_beginning(raw).map(RedisReply.init) }

  private var failure: RedisError {
    .protocolViolation(String(cString: chiredis_reader_error(raw)))
  }
}
