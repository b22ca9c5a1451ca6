/// A part of a text in which a token may stand: letters, digits and the marks that tokens hold, without a gap. Its runs are
/// parted by the marks that words do not hold either. It is judged as a whole: a token with many marks has no long run.
struct TokenStretch {
  /// Nor does any word of a language, or any name of a field, have more.
  private static let wordBytesMax = 40
  /// A text of words, figures and instants has more letters and digits for each change between them.
  private static let signsPerChange = 5

  private let runBytesMax: Int
  private let textBytesMax: Int
  /// Its beginning.
  private var text: [UInt8] = []
  private var run = Run()
  private var hasSecretRun = false
  /// Letters and digits.
  private var signs = 0
  private var lastSign = Sign.none
  private var changes = 0

  private enum Sign {
    case none, small, capital, digit

    init(_ byte: UInt8) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): self = .small
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .capital
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
      default: self = .none
      }
    }
  }

  /// Signs of base64, base64url and hexadecimal in a row, as words have them, too.
  private struct Run {
    var bytes = 0
    var isNoWord = false
    var last = Sign.none
    var capitals = 0

    mutating func append(_ byte: UInt8, _ sign: Sign) {
      bytes += 1
      if sign == .digit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "=") {
        isNoWord = true
      }
      if sign == .capital, last == .small { capitals += 1 }
      last = sign
    }

    /// Whether it is too long for a word, or holds digits, or changes between small and capital letters more often
    /// than words written together do.
    func isSecret(_ runBytesMax: Int) -> Bool {
      guard bytes > runBytesMax else { return false }
      return bytes > TokenStretch.wordBytesMax || isNoWord || capitals * 6 > bytes
    }
  }

  /// - Parameters:
  ///   - runBytesMax: runs of letters and digits up to this length are none of the network's tokens.
  ///   - textBytesMax: how much of it is kept.
  init(runBytesMax: Int, textBytesMax: Int) {
    self.runBytesMax = runBytesMax
    self.textBytesMax = textBytesMax
  }

  /// Takes what belongs to it. - Returns: false for what ends it.
  mutating func take(_ byte: UInt8) -> Bool {
    let sign = Sign(byte)
    switch byte {
    case _ where sign != .none:
      signs += 1
      if lastSign != .none, sign != lastSign, sign != .small || lastSign == .digit { changes += 1 }
      lastSign = sign
      run.append(byte, sign)
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "="),
      UInt8(ascii: "_"):
      run.append(byte, sign)
    case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "%"), UInt8(ascii: "~"): endRun()
    default: return false
    }
    if text.count < textBytesMax { text.append(byte) }
    return true
  }

  /// Ends it and begins the next. - Returns: what may be shown of it.
  mutating func end() -> String {
    guard !text.isEmpty else { return "" }
    endRun()
    let isMixed = signs > runBytesMax && changes * Self.signsPerChange > signs
    let shown = hasSecretRun || isMixed ? "[…]" : String(decoding: text, as: UTF8.self)
    self = TokenStretch(runBytesMax: runBytesMax, textBytesMax: textBytesMax)
    return shown
  }

  private mutating func endRun() {
    if run.isSecret(runBytesMax) { hasSecretRun = true }
    run = Run()
  }
}
