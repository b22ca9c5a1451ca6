/// The value of If-Match or If-None-Match: a list of entity tags, or a star (RFC 9110, 13.1.1 and 13.1.2).
enum EntityTagList: Equatable {
  /// `*`: any version.
  case any
  case tags([Tag])

  struct Tag: Equatable {
    /// Without its quotes.
    let text: String
    /// Whether it is for comparisons that take what means the same for the same (RFC 9110, 8.8.1).
    let isWeak: Bool
  }

  /// Nil when it is neither `*` nor a list of tags.
  init?(_ field: String) {
    var rest = Substring(field).drop(while: Self.isBlank)
    if rest.first == "*", rest.dropFirst().allSatisfy(Self.isBlank) {
      self = .any
      return
    }
    var tags: [Tag] = []
    while true {
      rest = rest.drop { $0 == "," || Self.isBlank($0) }
      guard !rest.isEmpty else { break }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest = rest.dropFirst(2) }
      guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return nil }
      let text = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...].drop(while: Self.isBlank)
      guard rest.isEmpty || rest.first == ",", !text.contains(where: Self.isBlank) else {
        return nil
      }
      tags.append(Tag(text: String(text), isWeak: isWeak))
    }
    if tags.isEmpty { return nil }
    self = .tags(tags)
  }

  private static func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }
}
