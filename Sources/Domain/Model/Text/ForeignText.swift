/// Text that a network, or whatever stands before it, put into an answer. It may echo what it was sent: device
/// tokens, provider tokens, bearer tokens.
package enum ForeignText {
  /// Longer runs of letters and digits are left out unless they read like words.
  package static let runBytesMax = 15
  /// Nor does any word of a language, or any name of a field, have more.
  private static let wordBytesMax = 40

  /// `text` fit for a log, an alarm or a trace: cut to a bounded length, without control characters, and without
  /// what may be a token.
  /// - Parameter runBytesMax: runs of letters and digits up to this length are none of the network's tokens.
  package static func printable(
    _ text: String, bytesMax: Int = Limits.quotedTextBytesMax,
    runBytesMax: Int = ForeignText.runBytesMax
  ) -> String {
    var shown = ""
    var run: [UInt8] = []
    // What lies behind the bound is not looked at, except that a run is judged as a whole up to a bound of its own.
    for scalar in text.unicodeScalars {
      if scalar.isASCII, isOfRun(UInt8(scalar.value)) {
        if run.count <= wordBytesMax { run.append(UInt8(scalar.value)) }
        continue
      }
      finish(&run, in: &shown, runBytesMax)
      guard shown.utf8.count < bytesMax else { return cut(shown, bytesMax) }
      shown.unicodeScalars.append(TextRule.isUnsafeToShow(scalar) ? "\u{FFFD}" : scalar)
    }
    finish(&run, in: &shown, runBytesMax)
    return shown.utf8.count <= bytesMax ? shown : cut(shown, bytesMax)
  }

  /// Base64 and base64url have these, hexadecimal has, and so do words.
  private static func isOfRun(_ byte: UInt8) -> Bool {
    TextRule.isLetterOrDigit(byte) || [0x2b, 0x2d, 0x2f, 0x3d, 0x5f].contains(byte)
  }

  private static func finish(
    _ run: inout [UInt8], in shown: inout String, _ runBytesMax: Int
  ) {
    defer { run.removeAll(keepingCapacity: true) }
    guard !run.isEmpty else { return }
    shown += isSecret(run, runBytesMax) ? "[…]" : String(decoding: run, as: UTF8.self)
  }

  /// Whether a run is too long for a word, or holds digits, or changes between small and capital letters more
  /// often than words written together do.
  private static func isSecret(_ run: [UInt8], _ runBytesMax: Int) -> Bool {
    guard run.count > runBytesMax else { return false }
    guard run.count <= wordBytesMax else { return true }
    var changes = 0
    for (index, byte) in run.enumerated() {
      guard !(0x30...0x39).contains(byte), byte != 0x2b, byte != 0x3d else { return true }
      let isCapital = (0x41...0x5a).contains(byte)
      if index > 0, isCapital, (0x61...0x7a).contains(run[index - 1]) { changes += 1 }
    }
    return changes * 6 > run.count
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
