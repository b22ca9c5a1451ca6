/// Text that a network, or whatever stands before it, put into an answer. It may echo what it was sent: device
/// tokens, provider tokens, bearer tokens.
package enum ForeignText {
  /// Longer runs of letters and digits are left out unless they read like words.
  package static let runBytesMax = 15

  /// `text` fit for a log, an alarm or a trace: cut to a bounded length, without control characters, and without
  /// what may be a token or a part of one.
  /// - Parameter runBytesMax: runs of letters and digits up to this length are none of the network's tokens.
  package static func printable(
    _ text: String, bytesMax: Int = Limits.quotedTextBytesMax,
    runBytesMax: Int = ForeignText.runBytesMax
  ) -> String {
    var shown = ""
    // Whoever cuts what is shown is to see that it was longer.
    var stretch = TokenStretch(runBytesMax: runBytesMax, textBytesMax: bytesMax + 1)
    // What lies behind the bound is not looked at, except that a stretch is judged as a whole.
    for scalar in text.unicodeScalars {
      if scalar.isASCII, stretch.take(UInt8(scalar.value)) { continue }
      shown += stretch.end()
      guard shown.utf8.count < bytesMax else { return cut(shown, bytesMax) }
      shown.unicodeScalars.append(TextRule.isUnsafeToShow(scalar) ? "\u{FFFD}" : scalar)
    }
    shown += stretch.end()
    return shown.utf8.count <= bytesMax ? shown : cut(shown, bytesMax)
  }

  private static func cut(_ text: String, _ bytesMax: Int) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      if shown.utf8.count >= bytesMax { break }
      shown.unicodeScalars.append(scalar)
    }
    return shown + "…"
  }
}
