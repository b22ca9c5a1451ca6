import Foundation
import PushpoolConfiguration
import Testing
import TestSupport

@Suite struct ConfigurationDocumentTests {
  private static let unknown = "qqqqqqqq"
  /// The fields that are lists of sections, and what names an element of each.
  private static let lists = ["apps": "id", "user_tokens": "app", "shards": "id"]

  /// The paths of all fields below this one, such as `worker.lanes`; itself when it is none of a section.
  /// What a section may hold is what its complaint about an unknown field says.
  private static func fields(in path: [String] = []) -> [String] {
    let yaml = path.reversed().reduce("{\(unknown): 0}") { inner, name in
      let bare = name.replacingOccurrences(of: "[]", with: "")
      return lists[bare].map { "{\(bare): [{\($0): a, \(inner.dropFirst())]}" }
        ?? "{\(name): \(inner)}"
    }
    let complaint = ConfigurationTests.complaint(yaml)
    guard let names = complaint.firstRange(of: "\(unknown): is not a known field; known here: ")
    else { return [path.joined(separator: ".")] }
    return complaint[names.upperBound...].components(separatedBy: ", ").flatMap {
      fields(in: path + [lists[$0] == nil ? $0 : "\($0)[]"])
    }
  }

  /// What stands between backticks in the first column of the section's table.
  private static func documented() throws -> [String] {
    let text = Document.text("docs/reference/configuration.md")
    let section = try #require(
      text.components(separatedBy: "\n## ").first { $0.hasPrefix("Fields\n") })
    return section.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
      let cell = row.components(separatedBy: " | ")[0].components(separatedBy: "`")
      return cell.indices.filter { $0 % 2 == 1 }.map { cell[$0] }
    }
  }

  @Test("docs/reference/configuration.md lists every field of the configuration once, and no other")
  func isComplete() throws {
    let known = Set(
      Self.fields().map {
        $0.replacingOccurrences(of: "apns.production.", with: "apns.*.")
          .replacingOccurrences(of: "apns.development.", with: "apns.*.")
      })
    let documented = try Self.documented()
    #expect(
      known.isSuperset(of: [
        "redis.url", "worker.lanes", "apps[].apns.*.key_file", "serve.user_tokens[].app",
      ]))
    #expect(known.subtracting(documented) == [], "not documented")
    #expect(Set(documented).subtracting(known) == [], "no field of the configuration")
    #expect(documented.count == Set(documented).count, "documented twice")
  }
}
