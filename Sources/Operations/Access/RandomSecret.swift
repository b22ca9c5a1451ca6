internal import Model

/// Random texts that nobody guesses.
package enum RandomSecret {
  /// How long a text of 256 random bits is.
  package static let length = 43

  /// Returns 256 random bits in Base64URL. Swift takes them from getrandom(2).
  package static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64URL.text(
      of: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// Whether a text can be one.
  package static func isOne(_ text: some StringProtocol) -> Bool {
    text.utf8.count == length && Base64URL.bytes(of: Array(text.utf8)) != nil
  }
}
