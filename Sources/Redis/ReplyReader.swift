internal import CHiredis

/// hiredis' reply parser with bounds: bytes in, replies out. Nesting is bounded by hiredis itself (7 levels).
final class ReplyReader {
  private let raw: UnsafeMutablePointer<redisReader>
  /// hiredis' own table, which the bounded one calls on.
  private let original: UnsafeMutablePointer<redisReplyObjectFunctions>
  private let bounded: UnsafeMutablePointer<redisReplyObjectFunctions>
  private let bytesMax: Int

  init(bytesMax: Int = RedisLimits.replyBytesMax) {
    raw = redisReaderCreate()
    original = raw.pointee.fn
    bounded = .allocate(capacity: 1)
    bounded.initialize(to: original.pointee)
    bounded.pointee.createArray = createBoundedArray
    raw.pointee.fn = bounded
    raw.pointee.privdata = UnsafeMutableRawPointer(original)
    self.bytesMax = bytesMax
  }

  deinit {
    redisReaderFree(raw)
    bounded.deallocate()
  }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
    let waiting = raw.pointee.len - raw.pointee.pos
    guard waiting + bytes.count <= bytesMax else {
      throw .protocolViolation("a reply of more than \(bytesMax) bytes")
    }
    let chars = bytes.assumingMemoryBound(to: CChar.self)
    guard redisReaderFeed(raw, chars.baseAddress, chars.count) == REDIS_OK else { throw failure }
  }

  /// Calls the body with the next complete reply, and frees it afterwards.
  /// - Returns: false when more bytes are needed.
  func next(_ body: (RedisReply) -> Void) throws(RedisError) -> Bool {
    var reply: UnsafeMutableRawPointer?
    guard redisReaderGetReply(raw, &reply) == REDIS_OK else { throw failure }
    guard let reply else { return false }
    defer { freeReplyObject(reply) }
    body(RedisReply(reply.assumingMemoryBound(to: redisReply.self)))
    return true
  }

  private var failure: RedisError {
    let text = withUnsafeBytes(of: raw.pointee.errstr) { errstr in
      String(decoding: errstr.prefix { $0 != 0 }, as: UTF8.self)
    }
    return .protocolViolation(text)
  }
}

/// hiredis allocates an array as soon as its length is announced; a hostile length must not get that far.
private func createBoundedArray(
  _ task: UnsafePointer<redisReadTask>?, _ elements: CInt
) -> UnsafeMutableRawPointer? {
  guard elements <= RedisLimits.replyElementsMax else { return nil }
  let original = task!.pointee.privdata!.assumingMemoryBound(to: redisReplyObjectFunctions.self)
  return original.pointee.createArray(task, elements)
}
