import Foundation
import TestSupport
import Testing

/// The documents tell producers that add jobs by XADD never to trim the streams, and show no command
/// that does.
@Suite struct ProducerPageTests {
  private struct Page {
    let name: String
    let lines: [Substring]
    /// The indices of the lines in which a job is added.
    let adds: [Int]

    init(_ name: String) {
      let lines = Document.text(name).split(separator: "\n", omittingEmptySubsequences: false)
      self.name = name
      self.lines = lines
      adds = lines.indices.filter { index in
        lines[index].lowercased().contains("xadd")
          && Self.command(lines, index).contains(/xadd[^+]*pushpool:jobs:(high|normal|low)/)
      }
    }

    /// In lower case a line and those in which a call may go on.
    static func command(_ lines: [Substring], _ index: Int) -> String {
      lines[index...].prefix(3).joined(separator: " ").lowercased()
    }
  }

  /// The pages that show how to add a job by XADD.
  private static func pages() throws -> [Page] {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let names = try FileManager.default.subpathsOfDirectory(atPath: root + "/docs")
      .filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
    let pages = (["README.md"] + names).map { Page($0) }.filter { !$0.adds.isEmpty }
    let known: Set = ["README.md", "docs/reference/jobs.md", "docs/guides/recipes.md"]
    #expect(known.isSubset(of: pages.map(\.name)))
    return pages
  }

  @Test("a page that shows how to add a job by XADD says near the first never to give it a MAXLEN")
  func warns() throws {
    for page in try Self.pages() {
      let first = try #require(page.adds.first)
      let near = page.lines[max(0, first - 20)..<min(page.lines.count, first + 20)]
      #expect(near.contains { $0.contains("`MAXLEN`") }, "\(page.name):\(first + 1)")
    }
  }

  @Test("no XADD of a page trims its stream")
  func trimsNothing() throws {
    for page in try Self.pages() {
      for index in page.adds {
        let command = Page.command(page.lines, index)
        let trims = command.contains("maxlen") || command.contains("minid")
        #expect(!trims, "\(page.name):\(index + 1)")
      }
    }
  }
}
