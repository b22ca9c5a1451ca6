/// The keys and certificates of a file, in any form in which people have them: PEM, DER, Base64 of either, on one line,
/// indented, with literal `\n`, in UTF-16. What the file is called does not count.
package struct KeyFileContent: Sendable {
  /// In the order of the file.
  package let objects: [KeyObject]

  /// - Parameters:
  ///   - file: what messages name.
  ///   - remedy: the end of a message about a file that is something else: what to give in its place.
  package init(
    _ bytes: [UInt8], file: String, remedy: String
  ) throws(CredentialFileError) {
    do throws(Problem) {
      objects = try Self.objects(in: bytes, mayBeBase64: true)
    } catch {
      throw CredentialFileError(
        file: file, problem: error.isComplete ? error.text : "\(error.text); \(remedy)")
    }
  }

  /// The kinds of object in it, for messages, such as "a certificate and a public key".
  package var summary: String {
    var names: [String] = []
    for object in objects where object.kind != .parameters && !names.contains(object.kind.name) {
      names.append(object.kind.name)
    }
    return names.isEmpty ? "no key" : names.joined(separator: " and ")
  }

  package func all(_ kind: KeyObject.Kind) -> [KeyObject] { objects.filter { $0.kind == kind } }

  private struct Problem: Error {
    let text: String
    /// Whether it says what to do.
    let isComplete: Bool

    init(_ text: String, isComplete: Bool = false) {
      self.text = text
      self.isComplete = isComplete
    }
  }

  private static func objects(
    in bytes: [UInt8], mayBeBase64: Bool
  ) throws(Problem) -> [KeyObject] {
    if DER.isBegin(bytes) {
      guard let object = KeyObject(der: bytes) else { throw unreadable(bytes) }
      return [object]
    }
    let form = TextForm(bytes)
    if form == .richText || form == .html { throw Problem("is \(form.name)") }
    let text = PlainText.of(bytes)
    let blocks = PEMBlock.all(in: text)
    guard blocks.isEmpty else {
      return try blocks.map { (block) throws(Problem) in try object(of: block) }
    }
    // A key without its lines of dashes, or a whole file in Base64, as secrets are handed around.
    if mayBeBase64, case .bytes(let inner) = Base64.content(of: text), inner.count >= 32,
      DER.isBegin(inner) || !PEMBlock.all(in: PlainText.of(inner)).isEmpty
    {
      return try objects(in: inner, mayBeBase64: false)
    }
    throw Problem("is \(form.name)")
  }

  private static func object(of block: PEMBlock) throws(Problem) -> KeyObject {
    if block.label.contains("PGP") { return KeyObject(.openPGP) }
    if block.isEncrypted {
      // What the headers encrypt would be encrypted again, and who knows how.
      guard block.label != "ENCRYPTED PRIVATE KEY" else {
        throw Problem("holds a private key that is encrypted twice")
      }
      return KeyObject(.encryptedKey)
    }
    if block.label.hasSuffix("PARAMETERS") { return KeyObject(.parameters) }
    let line = "\"-----BEGIN \(block.label)-----\""
    switch block.content {
    case .stranger(let inBlock):
      throw Problem(
        "holds something that is no part of a key behind \(line), on line "
          + "\(block.line + inBlock): copy the whole file again, without changing it",
        isComplete: true)
    case .bytes(let der):
      if let object = KeyObject(der: der) { return object }
      guard !der.isEmpty else {
        throw Problem("has nothing behind \(line): copy the whole file again", isComplete: true)
      }
      if let length = DER.length(of: der), length > der.count {
        throw Problem(
          "holds \(der.count) of the \(length) bytes that begin with \(line): copy the whole file "
            + "again, to its END line", isComplete: true)
      }
      guard block.hasEnd else {
        throw Problem(
          "has no END line for \(line): copy the whole file again", isComplete: true)
      }
      if isWithoutBackslashes(der) {
        throw Problem(
          "has the letter n behind \(line): a shell took the backslash of \\n; quote the text, or "
            + "give the file as it was", isComplete: true)
      }
      throw unreadable(der)
    }
  }

  /// Whether the first letter is the n of a `\n` that lost its backslash. DER begins with an M in Base64.
  private static func isWithoutBackslashes(_ der: [UInt8]) -> Bool {
    // The twelve bits of "nM".
    der.count > 2 && der[0] == 0x9c && der[1] & 0xf0 == 0xc0
  }

  private static func unreadable(_ der: [UInt8]) -> Problem {
    if let length = DER.length(of: der), length > der.count {
      return Problem(
        "holds \(der.count) of its \(length) bytes: copy the whole file again", isComplete: true)
    }
    return Problem("holds neither a key nor a certificate that OpenSSL can read")
  }
}

/// The outer lengths of DER and BER (X.690).
enum DER {
  /// Whether bytes begin as a sequence does, and not as a text that begins with "0".
  static func isBegin(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 2, bytes[0] == 0x30 else { return false }
    return bytes[1] >= 0x80 || Int(bytes[1]) + 2 == bytes.count
  }

  /// How many bytes there should be; nil when they do not say.
  static func length(of bytes: [UInt8]) -> Int? {
    guard bytes.count >= 2, bytes[0] == 0x30 else { return nil }
    let first = Int(bytes[1])
    guard first >= 0x80 else { return first + 2 }
    let count = first - 0x80
    guard (1...4).contains(count), bytes.count >= 2 + count else { return nil }
    return bytes[2..<2 + count].reduce(0) { $0 << 8 | Int($1) } + 2 + count
  }
}
