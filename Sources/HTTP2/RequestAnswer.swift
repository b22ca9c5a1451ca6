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
  /// The Retry-After header in seconds (RFC 9110, 10.2.3); nil when there was none or it was a date.
  package let retryAfterSeconds: Int?
  /// The first bytes of an answer other than 200; valid during the callback only.
  package let body: UnsafeRawBufferPointer
  /// From submission to the end, in nanoseconds.
  package let elapsedNs: UInt64

  package init(
    disposition: Disposition, status: Int, retryAfterSeconds: Int?, body: UnsafeRawBufferPointer,
    elapsedNs: UInt64
  ) {
    self.disposition = disposition
    self.status = status
    self.retryAfterSeconds = retryAfterSeconds
    self.body = body
    self.elapsedNs = elapsedNs
  }
}
