/// The form of a network's device tokens. The functions for registration go by the same rule (`RegistrationRules`).
package struct TokenRule: Sendable {
  /// A rule for the characters of a token.
  package enum Check: Sendable {
    /// Hexadecimal digits only, which are stored in lowercase.
    case hexadecimal
    /// ASCII letters, digits and these only.
    case word(others: StaticString)
    /// Whole bytes of hexadecimal digits.
    case evenCount
    /// No two of this character in a row.
    case noPair(of: Unicode.Scalar)
  }

  /// Whose token it is, in a sentence: "an APNs".
  package let owner: String
  /// Its name at the network: "device token".
  private let name: String
  /// How long it can be.
  package let bytes: ClosedRange<Int>
  /// In the order in which a token is held to them.
  package let checks: [Check]
  /// The same as a regular expression (ECMA-262), for documents that describe tokens.
  package let pattern: String

  init(
    of owner: String, named name: String, bytes: ClosedRange<Int>, checks: [Check],
    pattern: String
  ) {
    self.owner = owner
    self.name = name
    self.bytes = bytes
    self.checks = checks
    self.pattern = pattern
  }

  /// The sentence that refuses a token which breaks a rule.
  package func sentence(_ check: Check) -> String {
    let rule =
      switch check {
      case .hexadecimal: "be hexadecimal digits only"
      case .word(let others) where others.utf8CodeUnitCount == 0: "be letters and digits only"
      case .word(let others):
        "be letters, digits and \("\(others)".map(String.init).joined(separator: " ")) only"
      case .evenCount: "have an even number of hexadecimal digits"
      case .noPair(let scalar): "not hold \"\(scalar)\(scalar)\""
      }
    return "\(owner) \(name) must \(rule)"
  }

  /// Whether it is stored in lowercase, because its network reads it without case.
  package var isLowercased: Bool {
    checks.contains { if case .hexadecimal = $0 { true } else { false } }
  }

  /// The characters beside letters and digits that it may hold.
  package var otherCharacters: String {
    checks.reduce(into: "") { others, check in
      if case .word(let more) = check { others += "\(more)" }
    }
  }

  /// Returns a token as it is stored; the error's pointer is `/token`. It does not repeat the token, which is as good as an
  /// address.
  func normalised(_ text: String) throws(InvalidField) -> String {
    let count = text.utf8.count
    guard bytes.contains(count) else {
      throw refused(
        "\(owner) token must be \(bytes.lowerBound) to \(bytes.upperBound) characters, is \(count)")
    }
    var isLower = true
    for check in checks {
      let isKept =
        switch check {
        case .hexadecimal: Self.isHexadecimal(text, &isLower)
        case .word(let others): TextRule.isWord(text, others: others)
        case .evenCount: count % 2 == 0
        case .noPair(let scalar): !Self.hasPair(of: scalar, in: text)
        }
      guard isKept else { throw refused(sentence(check)) }
    }
    return isLower ? text : text.lowercased()
  }

  /// - Parameter isLower: becomes false where a digit is a capital letter.
  private static func isHexadecimal(_ text: String, _ isLower: inout Bool) -> Bool {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
      case UInt8(ascii: "A")...UInt8(ascii: "F"): isLower = false
      default: return false
      }
    }
    return true
  }

  private static func hasPair(of scalar: Unicode.Scalar, in text: String) -> Bool {
    let wanted = UInt8(ascii: scalar)
    var previous: UInt8 = 0
    for byte in text.utf8 {
      if byte == wanted, previous == wanted { return true }
      previous = byte
    }
    return false
  }

  private func refused(_ message: String) -> InvalidField {
    InvalidField(pointer: "/token", message: message)
  }
}
