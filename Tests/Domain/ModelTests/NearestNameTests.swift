import Model
import Testing

@Suite struct NearestNameTests {
  private let known = ["notification", "collapse_id", "ttl_seconds", "expires_at", "app", "id"]

  @Test(
    "a slip finds the name that was meant",
    arguments: [
      ("notifcation", "notification"), ("ontification", "notification"), ("ttl", "ttl_seconds"),
      ("collapseId", "collapse_id"), ("COLLAPSE-ID", "collapse_id"), ("expire_at", "expires_at"),
      ("apps", "app"), ("ids", "id"), ("ap", "app"),
    ])
  func slip(written: String, meant: String) {
    #expect(NearestName.suggestion(for: written, among: known) == meant)
  }

  @Test("what resembles nothing gets no suggestion", arguments: ["zebra", "", "x", "priority"])
  func nothingNear(written: String) {
    #expect(NearestName.suggestion(for: written, among: known) == nil)
  }

  @Test("a hostile name is neither long to compare nor repeated")
  func hostile() {
    let name = String(repeating: "a", count: 1_000_000)
    #expect(NearestName.suggestion(for: name, among: known) == nil)
    #expect(FieldPointer.child(name, of: "").utf8.count < 100)
  }
}
