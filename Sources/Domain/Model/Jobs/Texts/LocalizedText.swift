/// The text of a notification in one language, in place of the common title and body.
package struct LocalizedText: Sendable, Equatable {
  package let language: LanguageTag
  package var title: String?
  package var body: String?

  package init(language: LanguageTag, title: String? = nil, body: String? = nil) {
    self.language = language
    self.title = title
    self.body = body
  }
}

extension LocalizedText {
  private static let fields = ["title", "body"]

  /// The texts of a job's `localized`, in the order of their languages.
  static func list(_ reader: FieldReader) throws(InvalidField) -> [LocalizedText] {
    guard let object = try reader.anyObject("localized") else { return [] }
    let place = reader.pointer(to: "localized")
    guard (1...Limits.localizedTextsMax).contains(object.count) else {
      throw reader.refused(
        "localized",
        "must hold 1 to \(Limits.localizedTextsMax) languages, holds \(object.count)")
    }
    var texts: [LocalizedText] = []
    for member in object.members {
      let text = try LocalizedText(member, at: FieldPointer.child(member.name, of: place))
      if let other = texts.first(where: { $0.language == text.language }) {
        throw InvalidField(
          pointer: FieldPointer.child(member.name, of: place),
          message: "is the same language as \"\(other.language.text)\": keep one of them")
      }
      texts.append(text)
    }
    return texts.sorted { TextRule.precedes($0.language.key, $1.language.key) }
  }

  private init(_ member: JSONObject.Member, at pointer: String) throws(InvalidField) {
    guard let language = LanguageTag(member.name) else {
      throw InvalidField(
        pointer: pointer, message: "is no language tag such as ja, pt-BR or zh-Hant")
    }
    let reader = try FieldReader(member.value, at: pointer, known: Self.fields)
    self.init(
      language: language, title: try reader.string("title"), body: try reader.string("body"))
    guard title != nil || body != nil else {
      throw InvalidField(pointer: pointer, message: "is empty: it needs a title or a body")
    }
  }

  /// The member `localized` of a job; nil when there are none.
  static func json(_ texts: [LocalizedText]) -> JSONValue? {
    guard !texts.isEmpty else { return nil }
    var object = JSONObject()
    for text in texts {
      var members = JSONObject()
      members["title"] = text.title.map { .string($0) }
      members["body"] = text.body.map { .string($0) }
      object[text.language.text] = .object(members)
    }
    return .object(object)
  }
}
