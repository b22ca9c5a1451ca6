internal import Model
internal import Store

/// The version of an installation, as ETag tells it and If-Match asks for it (RFC 9110, 8.8.3 and 13.1.1).
struct EntityTag: Equatable {
  /// Without its quotes.
  let text: String

  /// Each install and change gives an installation a new generation. Jobs raise its badge without one.
  init(_ stored: StoredInstallation) {
    text = stored.installation.badge.map { "\(stored.generation).\($0)" } ?? "\(stored.generation)"
  }

  /// The value of the field ETag.
  var field: String { "\"\(text)\"" }
}

/// The condition of If-Match.
enum MatchCondition: Equatable {
  /// `*`: any version will do.
  case any
  /// One of these tags, without their quotes. Weak ones are left out: they match nothing here.
  case oneOf([String])

  /// - Parameter field: the value of the field.
  /// - Throws: 400 when it is neither `*` nor a list of tags.
  init(_ field: String) throws(Problem) {
    var rest = Substring(field).drop(while: Self.isBlank)
    if rest.first == "*", rest.dropFirst().allSatisfy(Self.isBlank) {
      self = .any
      return
    }
    var tags: [String] = []
    var isEmpty = true
    while true {
      rest = rest.drop { $0 == "," || Self.isBlank($0) }
      guard !rest.isEmpty else { break }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest = rest.dropFirst(2) }
      guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else {
        throw Self.malformed
      }
      let tag = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...].drop(while: Self.isBlank)
      guard rest.isEmpty || rest.first == ",", !tag.contains(where: Self.isBlank) else {
        throw Self.malformed
      }
      isEmpty = false
      if !isWeak { tags.append(String(tag)) }
    }
    if isEmpty { throw Self.malformed }
    self = .oneOf(tags)
  }

  func holds(for tag: EntityTag) -> Bool {
    switch self {
    case .any: true
    case .oneOf(let tags): tags.contains(tag.text)
    }
  }

  private static func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  private static let malformed = Problem.badRequest(
    "If-Match must be the ETag of a GET with its quotes, several with commas between them, or *")
}
