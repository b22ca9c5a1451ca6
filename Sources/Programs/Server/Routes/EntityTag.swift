internal import Model
internal import Store

/// The version of an installation or of an app, as ETag tells it and If-Match asks for it (RFC 9110, 8.8.3 and 13.1.1).
struct EntityTag: Equatable {
  /// Without its quotes.
  let text: String

  /// Each install and change gives an installation a new generation. Jobs raise its badge without one.
  init(_ stored: StoredInstallation) {
    text = stored.installation.badge.map { "\(stored.generation).\($0)" } ?? "\(stored.generation)"
  }

  /// The version of an app that stands in Redis.
  init(_ record: AppRecord) { text = record.revision }

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
    guard let list = EntityTagList(field) else { throw Self.malformed }
    self =
      switch list {
      case .any: .any
      case .tags(let tags): .oneOf(tags.filter { !$0.isWeak }.map(\.text))
      }
  }

  /// The condition of a request; nil where it has none.
  /// - Throws: 400 when it is neither `*` nor a list of tags.
  init?(of request: APIRequest) throws(Problem) {
    guard let field = request.headers["if-match"] else { return nil }
    try self.init(field)
  }

  /// The tags of which one must match; nil for any.
  var tags: [String]? {
    switch self {
    case .any: nil
    case .oneOf(let tags): tags
    }
  }

  func holds(for tag: EntityTag) -> Bool {
    switch self {
    case .any: true
    case .oneOf(let tags): tags.contains(tag.text)
    }
  }

  private static let malformed = Problem.badRequest(
    "If-Match must be the ETag of a GET with its quotes, several with commas between them, or *")
}
