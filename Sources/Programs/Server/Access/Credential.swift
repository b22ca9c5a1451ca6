internal import Operations

/// The thing by which a request says who sends it.
enum Credential: Sendable, Equatable {
  case none
  case key(KeyText)
  /// A JSON Web Token, which is not verified yet.
  case userToken(String)
  /// The name that a browser got for a key.
  case session(String)

  static let cookieName = "pushpool_session"

  /// The field `authorization` goes before the cookie.
  init(_ head: RequestHead) throws(Problem) {
    if let field = head.headers["authorization"] {
      self = try Self.bearer(field)
    } else if let secret = head.headers["cookie"].flatMap(Self.session(in:)) {
      self = .session(secret)
    } else {
      self = .none
    }
  }

  /// Reads `Bearer …` (RFC 6750, 2.1).
  private static func bearer(_ field: String) throws(Problem) -> Credential {
    let words = field.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      throw .unauthorized(
        "the field authorization must be: Bearer, a space, and a key or a user token")
    }
    let text = String(words[1])
    if let key = KeyText(text) { return .key(key) }
    guard !text.hasPrefix(KeyText.prefix) else {
      throw .unauthorized(
        "the key is not whole: a key is pp_ROLE_ID_SECRET, with 43 characters in the last part")
    }
    guard text.utf8.contains(UInt8(ascii: ".")) else {
      throw .unauthorized(
        "what stands behind Bearer is neither a key (pp_…) nor a user token (JWT)")
    }
    return .userToken(text)
  }

  /// The session of a field `cookie`; nil for none, and when there are several.
  static func session(in field: String) -> String? {
    let values = field.split(separator: ";").compactMap { part -> Substring? in
      let part = part.drop { $0 == " " }
      guard part.hasPrefix("\(cookieName)=") else { return nil }
      return part.dropFirst(cookieName.utf8.count + 1)
    }
    guard values.count == 1, RandomSecret.isOne(values[0]) else { return nil }
    return String(values[0])
  }
}
