import Testing

@testable import Worker

@Suite struct BatchIDTests {
  private func id(
    _ tokens: [String], source: String = "n1-0", environment: String = "production"
  ) throws -> String {
    let arena = ByteArena()
    let claim = try Claims.claim(["a"], source: source)
    let id = BatchID.of(claim, environment: environment, tokens.map { arena.copy($0) })
    return String(decoding: id, as: UTF8.self)
  }

  @Test("the same job to the same devices has the same id, in any order")
  func isTheSame() throws {
    let first = try id(["a", "b"])
    #expect(try id(["b", "a"]) == first)
    #expect(
      first.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}/) != nil)
  }

  @Test("other devices, the other environment, and the same job enqueued anew have other ids")
  func differs() throws {
    let ids = try [
      id(["a", "b"]), id(["a"]), id(["ab"]), id(["a", "b"], source: "n2-0"),
      id(["a", "b"], environment: "development"),
    ]
    #expect(Set(ids).count == 5)
  }
}
