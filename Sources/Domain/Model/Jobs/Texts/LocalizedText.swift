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
