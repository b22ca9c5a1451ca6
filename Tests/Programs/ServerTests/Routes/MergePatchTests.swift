import Model
import Testing

@testable import Server

@Suite struct MergePatchTests {
  private static func json(_ text: String) throws -> JSONValue { try JSONParser().parse(text) }

  /// RFC 7396, Appendix A.
  @Test(
    "a patch does what the RFC says of it",
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
      (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
      (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
      (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
      (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
      (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#), (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
      (#"{"a":"foo"}"#, "null", "null"), (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
      (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
      (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
      (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
  func corpus(target: String, patch: String, expected: String) throws {
    #expect(
      MergePatch.apply(try Self.json(patch), to: try Self.json(target)) == (try Self.json(expected))
    )
  }

  @Test("If-Match is a list of tags or a star")
  func conditions() throws {
    #expect(try MatchCondition(" * ") == .any)
    #expect(try MatchCondition("\"1\"") == .oneOf(["1"]))
    #expect(try MatchCondition(" \"a,b\" ,, W/\"2\",\t\"\"") == .oneOf(["a,b", ""]))
    for field in ["", " , ", "1", "\"1", "\"1\"\"2\"", "w/\"1\"", "*, \"1\"", "\"a b\"", "\"1\" x"]
    {
      #expect(throws: Problem.self, "\(field)") { _ = try MatchCondition(field) }
    }
  }
}
