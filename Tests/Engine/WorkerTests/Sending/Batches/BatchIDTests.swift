import Model
import Testing

@testable import Worker

@Suite struct BatchIDTests {
  private func id(
    _ tokens: [String], source: String = "n1-0",
    environments: Set<PushEnvironment> = [.production]
  ) throws -> String {
    let arena = ByteArena()
    let claim = try Claims.claim(["a"], source: source)
    let id = BatchID.of(claim, environments: environments, tokens.map { arena.copy($0) })
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
      id(["a", "b"], environments: [.development]),
      id(["a", "b"], environments: [.production, .development]),
    ]
    #expect(Set(ids).count == 6)
  }

  @Test("ids are the same in every version: a request may be repeated by a newer worker")
  func isTheSameInEveryVersion() throws {
    #expect(try id(["a", "b"]) == "77d58222-cd64-83a1-a205-8e446cba8255")
    #expect(
      try id(["a", "b"], environments: [.development]) == "12a0ffa6-ef24-8ed5-a88d-26a3dae3c968")
    #expect(
      try id(["a", "b"], environments: [.production, .development])
        == "90fcd2da-b4ff-8f6f-ac54-ef0dc3a55a41")
  }
}
