package import Store

/// A key as its holder has it: `pp_<role>_<id>_<secret>`. The beginning lets people, and programs that look for lost
/// secrets, see what it is.
package struct KeyText: Sendable, Equatable, CustomStringConvertible {
  package let role: KeyRole
  /// `idLength` characters of Base32 in lower case: no secret.
  package let id: String
  /// 256 random bits in Base64URL.
  package let secret: String

  package static let prefix = "pp_"
  package static let idLength = 12
  private static let idAlphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// A new key.
  package init(new role: KeyRole) {
    self.role = role
    var generator = SystemRandomNumberGenerator()
    let characters = (0..<Self.idLength).map { _ in
      Self.idAlphabet[Int.random(in: 0..<Self.idAlphabet.count, using: &generator)]
    }
    id = String(decoding: characters, as: UTF8.self)
    secret = RandomSecret.make()
  }

  /// Nil when the text is no whole key.
  package init?(_ text: String) {
    // The secret may have `_` in it.
    let parts = text.split(separator: "_", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "pp", let role = KeyRole(rawValue: String(parts[1])),
      Self.isID(parts[2]), RandomSecret.isOne(parts[3])
    else { return nil }
    self.role = role
    id = String(parts[2])
    secret = String(parts[3])
  }

  /// The whole key, with its secret.
  package var text: String { "\(Self.prefix)\(role.rawValue)_\(id)_\(secret)" }

  /// Leaves the secret out, so that no log has it by mistake.
  package var description: String { "\(Self.prefix)\(role.rawValue)_\(id)_…" }

  package static func isID(_ text: some StringProtocol) -> Bool {
    text.utf8.count == idLength && text.utf8.allSatisfy { idAlphabet.contains($0) }
  }

  /// Whether a key, or the beginning of its secret, stands somewhere in the text.
  package static func stands(in text: String) -> Bool {
    let bytes = Array(text.utf8)
    let heads = KeyRole.allCases.map { Array("\(prefix)\($0.rawValue)_".utf8) }
    for start in bytes.indices where bytes[start] == UInt8(ascii: "p") {
      for head in heads where bytes[start...].starts(with: head) {
        let rest = bytes[(start + head.count)...]
        // The id, a line, and something of a secret.
        if rest.count > idLength + 1, rest.prefix(idLength).allSatisfy(idAlphabet.contains),
          rest[rest.startIndex + idLength] == UInt8(ascii: "_")
        {
          return true
        }
      }
    }
    return false
  }
}
