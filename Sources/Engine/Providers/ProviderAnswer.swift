import Model

/// The answer to one request; `body` is valid during the call that gets it.
package struct ProviderAnswer {
  package let status: Int
  /// How long the header Retry-After says to wait.
  package let retryAfterSeconds: Int?
  /// Empty of a 200, whose body no transport keeps.
  package let body: UnsafeRawBufferPointer
  /// Whether the request asked the network to check and not to deliver.
  let isDryRun: Bool
  /// Whether there is more of the body than `ProviderLimits.answerBytesMax`: such an answer is judged by its status
  /// alone.
  let isTooLong: Bool

  package init(
    status: Int, retryAfterSeconds: Int?, body: UnsafeRawBufferPointer, isBodyCut: Bool = false,
    isDryRun: Bool = false
  ) {
    self.isDryRun = isDryRun
    self.status = status
    self.retryAfterSeconds = retryAfterSeconds
    self.body = body
    isTooLong = isBodyCut || body.count > ProviderLimits.answerBytesMax
  }

  /// Retry-After in milliseconds, at most `Limits.retryAfterMsMax`.
  package var retryAfterMs: UInt64? {
    guard let seconds = retryAfterSeconds, seconds >= 0 else { return nil }
    return min(UInt64(seconds), Limits.retryAfterMsMax / 1_000) * 1_000
  }

  /// The body as a JSON object; nil when it is anything else.
  var object: JSONObject? {
    guard !isTooLong else { return nil }
    let parser = JSONParser(
      depthMax: ProviderLimits.answerDepthMax, bytesMax: ProviderLimits.answerBytesMax,
      valuesMax: ProviderLimits.answerValuesMax)
    return (try? parser.parse(body))?.objectValue
  }

  /// A reason for an answer that gives none.
  var statusReason: String {
    guard isTooLong else { return "status \(status)" }
    return "status \(status) with more than \(ProviderLimits.answerBytesMax.grouped) bytes"
  }

  /// A reason for an answer that the network itself did not give.
  func foreignReason(_ network: String) -> String {
    "\(statusReason) that is not \(network)'s: check the endpoint and what stands before it"
  }
}
