/// The content of a job in each of its languages, with marks for what is filled in for each user.
package struct MessageVariants: Sendable {
  /// The common content, and behind it one for each of the job's localized texts.
  package let contents: [JobContent]
  /// The placeholders that the marks in the contents stand for, by number.
  package let placeholders: [Placeholder]
  /// Whether the contents hold marks: a message that is rendered of one is another for each push.
  package let hasMarks: Bool
  /// Positions in `contents`, by `LanguageTag.key`.
  private let byLanguage: [String: Int]

  /// Whether anything of a content can be wrong here.
  static func mayRefuse(_ content: JobContent) -> Bool {
    content.variables != nil || content.raisesBadge
  }

  /// - Throws: what is wrong with a placeholder, or that a text could be taken for a mark.
  package init(_ content: JobContent) throws(InvalidField) {
    if Self.mayRefuse(content) { try content.refuseMarks() }
    var table = PlaceholderTable()
    var contents = [content]
    var byLanguage: [String: Int] = [:]
    for text in content.localized {
      byLanguage[text.language.key] = contents.count
      var localized = content
      localized.notification?.title = text.title ?? content.notification?.title
      localized.notification?.body = text.body ?? content.notification?.body
      contents.append(localized)
    }
    // Without variables a text means what it says: braces may be what a person has written.
    if content.variables != nil {
      for index in contents.indices {
        do { try contents[index].mark(&table) } catch {
          guard index > 0, error.pointer.hasPrefix("/notification/") else { throw error }
          let text = content.localized[index - 1]
          let field = error.pointer.dropFirst("/notification/".count)
          // What it has not itself is the common part's, and was fine there.
          throw InvalidField(
            pointer: "/localized/\(text.language.text)/\(field)", message: error.message)
        }
      }
    }
    self.contents = contents
    self.byLanguage = byLanguage
    placeholders = table.placeholders
    hasMarks = content.raisesBadge || !placeholders.isEmpty
  }

  /// Content that is the same for everybody: a badge of its own is nobody's.
  package init(plain content: JobContent) {
    var content = content
    if content.raisesBadge { content.notification?.badge = nil }
    contents = [content]
    hasMarks = false
    placeholders = []
    byLanguage = [:]
  }

  package var hasLanguages: Bool { contents.count > 1 }

  /// Which of the contents a device of this language gets; 0 is the common one.
  package func index(language: String) -> Int { LanguageTag.lookUp(language, in: byLanguage) ?? 0 }
}
