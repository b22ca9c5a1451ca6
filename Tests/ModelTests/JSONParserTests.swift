import Model
import Testing

@Suite struct JSONParserTests {
  @Test("an empty object is read") func emptyObject() throws {
    #expect(try JSONParser().parse("{}") == .object(JSONObject()))
  }
}
