/// How one request ended.
package struct RequestAnswer {
  package enum Disposition: Equatable, Sendable {
    /// The peer answered; `status` says what.
    case answered
    /// The request was (or may have been) written, and no answer came: it may have been processed.
    case unknown
    /// The request was certainly not processed: never written, REFUSED_STREAM (RFC 9113, 8.7), or above the last stream
    /// of a GOAWAY (RFC 9113, 6.8).
    case notSent
    /// The peer calls the request itself a breach of the protocol and did not process it: PROTOCOL_ERROR for its stream
    /// (RFC 9113, 8.1.1), or for a connection that carried nothing else.
    case malformed
  }

  /// The parts of an answer, as far as it came.
  package struct Content {
    /// 0 unless answered.
    package let status: Int
    package let retryAfter: RetryAfter
    /// Up to `HTTP2Limits.answerBodyBytesMax`; valid during the callback only. Empty of an answer that is accepted.
    package let body: UnsafeRawBufferPointer
    /// Whether there was more of it.
    package let isBodyCut: Bool
    /// The Content-Type, up to `HTTP2Limits.contentTypeBytesMax`; valid during the callback only.
    package let contentType: UnsafeRawBufferPointer
    /// Whether it is a 200 in the form by which the peer accepts (`ClientSettings.acceptedForm`). What is not recognised
    /// may be one all the same: its body tells.
    package let isAccepted: Bool
    /// Whether the stream ended before the answer did.
    package let isPartial: Bool

    package init(
      status: Int = 0, retryAfter: RetryAfter = RetryAfter(),
      body: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
      isBodyCut: Bool = false,
      contentType: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
      isAccepted: Bool = false, isPartial: Bool = false
    ) {
      self.status = status
      self.retryAfter = retryAfter
      self.body = body
      self.isBodyCut = isBodyCut
      self.contentType = contentType
      self.isAccepted = isAccepted
      self.isPartial = isPartial
    }
  }

  /// The part that its stream and its connection had in it that no answer came.
  package struct Failure: Sendable {
    /// Not sent because the server refused this one stream (REFUSED_STREAM, RFC 9113, 8.7).
    package let isRefused: Bool
    /// The peer closed the connection with PROTOCOL_ERROR because of one of its requests, and this may be the one.
    package let isAccused: Bool
    /// Its connection ended before the answer, and had answered many: many servers end each after so many requests.
    package let isCutOff: Bool

    package init(isRefused: Bool = false, isAccused: Bool = false, isCutOff: Bool = false) {
      self.isRefused = isRefused
      self.isAccused = isAccused
      self.isCutOff = isCutOff
    }
  }

  package let disposition: Disposition
  package let content: Content
  package let failure: Failure
  /// From submission to the end, in nanoseconds.
  package let elapsedNs: UInt64

  package init(
    _ disposition: Disposition, _ content: Content = Content(), failure: Failure = Failure(),
    elapsedNs: UInt64
  ) {
    self.disposition = disposition
    self.content = content
    self.failure = failure
    self.elapsedNs = elapsedNs
  }
}
