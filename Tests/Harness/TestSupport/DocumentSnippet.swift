/// A fenced block of one of the project's documents, so that tests can run what readers copy.
package struct DocumentSnippet: Sendable, CustomStringConvertible {
  /// Such as `docs/guides/recipes.md`.
  package let document: String
  package let line: Int
  package let text: String

  package var description: String { "\(document):\(line)" }

  /// The blocks of a language, in the document's order; the indent of a block is no part of its text.
  package static func all(_ language: String, in document: String) -> [DocumentSnippet] {
    let content = Document.text(document)
    var snippets: [DocumentSnippet] = []
    var open: (line: Int, indent: Int, lines: [Substring])?
    let lines = content.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let words = line.drop { $0 == " " }
      if let block = open, words == "```" {
        snippets.append(
          DocumentSnippet(
            document: document, line: block.line, text: block.lines.joined(separator: "\n") + "\n"))
        open = nil
      } else if let indent = open?.indent {
        open?.lines.append(line.dropFirst(indent))
      } else if words == "```\(language)" {
        open = (line: index + 2, indent: line.count - words.count, lines: [])
      }
    }
    return snippets
  }

  /// The lines that an indent of four makes a block of commands, without it.
  package static func indented(in document: String) -> [String] {
    Document.text(document).split(separator: "\n").filter { $0.hasPrefix("    ") }
      .map { String($0.dropFirst(4)) }
  }
}
