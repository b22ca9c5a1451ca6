/// How one request ended.
package struct RequestAnswer {
  package enum Disposition: Equatable, Sendable {
    /// The peer answered; `status` says what.
    case answered
    /// It was (or may have been) written, and no answer came: it may have been processed.
    case unknown
    /// It was certainly not processed: never written, REFUSED_STREAM (RFC 9113, 8.7), or above the
    /// last stream of a GOAWAY (RFC 9113, 6.8).
    case notSent
  }

  package let disposition: Disposition
  /// 0 unless answered.
  package let status: Int
  package let retryAfter: RetryAfter
  /// Of an answer other than 200, up to `HTTP2Limits.answerBodyBytesMax`; valid during the callback only.
  package let body: UnsafeRawBufferPointer
  /// Whether there was more of it.
  package let isBodyCut: Bool
  /// From submission to the end, in nanoseconds.
  package let elapsedNs: UInt64

  package init(
    disposition: Disposition, status: Int, retryAfter: RetryAfter, body: UnsafeRawBufferPointer,
    isBodyCut: Bool, elapsedNs: UInt64
  ) {
    self.disposition = disposition
    self.status = status
    self.retryAfter = retryAfter
    self.body = body
    self.isBodyCut = isBodyCut
    self.elapsedNs = elapsedNs
  }
}
