import Foundation
import Model
import TestSupport
import Testing

@testable import Store

@Suite struct AlarmKindTests {
  @Test("the documents tell of every kind of alarm, and of no other")
  func isDocumented() throws {
    let reference = try #require(
      Document.text("docs/reference/redis.md").components(separatedBy: "\n## ")
        .first { $0.hasPrefix("Alarms\n") })
    let listed = reference.components(separatedBy: "\n| `").dropFirst()
      .map { String($0.prefix { $0 != "\\" }) }
    #expect(Set(listed) == Set(AlarmKind.allCases.map(\.rawValue)))
    let guide = Document.text("docs/guides/operating.md").components(separatedBy: "\n### ")
      .dropFirst().flatMap { $0.prefix { $0 != "\n" }.components(separatedBy: ", ") }
    for kind in AlarmKind.allCases {
      #expect(guide.contains(kind.rawValue), "operating.md does not say what to do about it")
    }
  }

  @Test(
    "the functions name their alarms as programs do",
    arguments: [
      AlarmKind.massDeath, .noWorker, .lostWork, .halfBinding, .wrongType, .loop, .topicLoop,
      .trimmed, .exhausted,
    ])
  func isNamedAlike(kind: AlarmKind) {
    let library = String(decoding: StoreLibrary.source, as: UTF8.self)
    #expect(library.contains("'\(kind.rawValue)|' .."))
  }

  @Test("a field begins with its kind, and tells it again")
  func readsItsField() {
    #expect(AlarmKind.breaker.field("shop", "apns", "all") == "breaker|shop|apns|all")
    for kind in AlarmKind.allCases { #expect(AlarmKind(field: kind.field("a", "b")) == kind) }
    #expect(AlarmKind(field: "of a later version|shop") == nil)
  }
}
