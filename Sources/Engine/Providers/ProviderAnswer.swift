internal import HTTP2
import Model

/// The answer to one request; `body` is valid during the call that gets it.
package struct ProviderAnswer {
  package let status: Int
  /// How long the header Retry-After says to wait.
  package let retryAfterSeconds: Int?
  package let body: UnsafeRawBufferPointer
  /// The header Content-Type; valid during the call, too. Empty when there is none.
  let contentType: UnsafeRawBufferPointer
  /// Whether the stream ended before the answer did.
  let isPartial: Bool
  /// Whether the request asked the network to check and not to deliver.
  let isDryRun: Bool
  /// Whether there is more of the body than `ProviderLimits.answerBytesMax`: such an answer is judged by its status
  /// alone.
  let isTooLong: Bool

  package init(
    status: Int, retryAfterSeconds: Int?, body: UnsafeRawBufferPointer, isBodyCut: Bool = false,
    isDryRun: Bool = false, isPartial: Bool = false,
    contentType: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    self.isPartial = isPartial
    self.contentType = contentType
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

  /// Whether it is an object that is too long to be read: the network's own, as far as one can see.
  var isLongObject: Bool { isTooLong && beginsObject }

  private var beginsObject: Bool { body.first { $0 > 0x20 } == UInt8(ascii: "{") }

  /// Whether what came of an answer that was cut off is nothing, or begins as this text does. Its status stands then.
  /// - Parameter text: without blanks, which do not count.
  func isBegun(_ text: StaticString) -> Bool {
    guard isPartial else { return false }
    return text.withUTF8Buffer { text in
      var expected = text[...]
      for byte in body where byte > 0x20 {
        guard let next = expected.popFirst() else { return true }
        guard next == byte else { return false }
      }
      return true
    }
  }

  /// A reason for an answer that the network itself did not give: what came, and what to do.
  func foreignReason(_ network: String) -> String {
    "\(statusReason) that is not \(network)'s\(excerpt): check the endpoint and what stands before it"
  }

  /// An excerpt of the answer, for people: the type and the beginning of the text, without what may be a token.
  private var excerpt: String {
    let type = Self.shown(contentType, bytesMax: HTTP2Limits.contentTypeBytesMax)
    let text = Self.shown(body, bytesMax: ProviderLimits.shownBodyBytesMax)
    switch (type.isEmpty, text.isEmpty) {
    case (true, true): return ""
    case (false, true): return " (\(type))"
    case (true, false): return " (\"\(text)\")"
    case (false, false): return " (\(type), \"\(text)\")"
    }
  }

  /// In one line: blanks of any kind are one space, and quotation marks are single ones.
  private static func shown(_ bytes: UnsafeRawBufferPointer, bytesMax: Int) -> String {
    let beginning = String(decoding: bytes.prefix(4 * bytesMax), as: UTF8.self)
    let words = beginning.split { $0.isWhitespace || $0.isNewline }
    let line = words.joined(separator: " ").replacing("\"", with: "'")
    return ForeignText.printable(line, bytesMax: bytesMax)
  }
}
