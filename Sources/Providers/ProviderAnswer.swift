import Model

/// The answer to one push; `body` is valid during the call that gets it.
package struct ProviderAnswer {
  package let status: Int
  /// The header Retry-After in seconds, when it came as a number.
  package let retryAfterSeconds: Int?
  package let body: UnsafeRawBufferPointer

  package init(status: Int, retryAfterSeconds: Int?, body: UnsafeRawBufferPointer) {
    self.status = status
    self.retryAfterSeconds = retryAfterSeconds
    self.body = body
  }

  /// Retry-After in milliseconds, at most `Limits.retryAfterMsMax`.
  package var retryAfterMs: UInt64? {
    guard let seconds = retryAfterSeconds, seconds >= 0 else { return nil }
    return min(UInt64(seconds), Limits.retryAfterMsMax / 1_000) * 1_000
  }

  /// The body as a JSON object; nil when it is anything else.
  var object: JSONObject? {
    let parser = JSONParser(
      depthMax: ProviderLimits.answerDepthMax, bytesMax: ProviderLimits.answerBytesMax,
      valuesMax: ProviderLimits.answerValuesMax)
    return (try? parser.parse(body))?.objectValue
  }

  /// A reason for an answer that gives none.
  var statusReason: String { "status \(status)" }
}
