import Testing

@testable import Server

@Suite struct PathPatternTests {
  @Test("a pattern tells its parameters and its action apart")
  func reads() {
    let pattern: PathPattern = "/v1/apps/{app}/jobs/{id}:cancel"
    #expect(pattern.parameters == ["app", "id"])
    #expect(pattern.action == "cancel")
    #expect(pattern.segments.last == .parameter("id"))
  }
}
