import Model
import Testing

@Suite struct VariablesTests {
  private func values(_ json: String) -> [String: String]? {
    Array(json.utf8).withUnsafeBytes { Variables.values(in: $0) }
  }

  @Test("values are texts, numbers as they were written, and booleans")
  func readsValues() {
    #expect(
      values(#"{"name":"Ann","points":1.50,"vip":true}"#)
        == ["name": "Ann", "points": "1.50", "vip": "true"])
    #expect(values("{}") == [:])
  }

  @Test(
    "what is no object of these is no values at all",
    arguments: ["", "Ann", "[1]", "1", "null", #"{"a":null}"#, #"{"a":{}}"#, #"{"a":[1]}"#, "{"])
  func refusesOthers(json: String) {
    #expect(values(json) == nil)
  }

  @Test("values that stand in the job are found by their user's bytes")
  func findsUser() throws {
    let content = try JobTests.job(
      #""notification":{"body":"B"},"variables":{"u2":{"n":"two"},"u10":{"n":"ten"},"é":{"n":"e"}}"#
    ).content
    guard case .given(let given)? = content.variables else {
      Issue.record("no variables")
      return
    }
    func value(_ user: String) -> String? {
      Array(user.utf8).withUnsafeBytes { Variables.values(of: $0, in: given)?["n"] }
    }
    #expect(
      ["u2", "u10", "é", "u1", "", "e\u{301}"].map(value) == ["two", "ten", "e", nil, nil, nil])
    #expect(try JobContent(bytes: content.canonicalBytes()) == content)
  }

  private func members(_ json: String) -> [String: String]? {
    var found: [String: String]?
    Array(json.utf8).withUnsafeBytes { bytes in
      let isFlat = FlatJSONObject.withMembers(of: bytes) { members in
        found = Dictionary(
          uniqueKeysWithValues: members.map {
            (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
          })
      }
      #expect(isFlat == (found != nil))
    }
    return found
  }

  @Test(
    "what is read where it lies means the same to the parser",
    arguments: [
      "{}", #"{"name":"Ann"}"#, #" { "a" : "花子" , "b" : 17, "c":true,"d":false , "e":0 } "#,
      #"{"":""}"#,
    ])
  func readsInPlace(json: String) {
    #expect(members(json) != nil && members(json) == values(json))
  }

  @Test(
    "all but the plainest form is left to the parser",
    arguments: [
      "", "{", "[]", #"{"a":"\u0041"}"#, #"{"a":1.5}"#, #"{"a":-1}"#, #"{"a":01}"#, #"{"a":null}"#,
      #"{"a":{}}"#, #"{"a":1,"a":2}"#, #"{"a":"1"}x"#, #"{"a":"1",}"#, #"{"a":truth}"#, #"{"a":"b"#,
      #"{"a" "b"}"#, "{\"a\":\"\u{1}\"}",
      #"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}"#,
    ])
  func leavesToParser(json: String) {
    #expect(members(json) == nil)
  }

  @Test("bytes that are no UTF-8 are no values")
  func refusesBytes() {
    let json = Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
    json.withUnsafeBytes { bytes in
      #expect(!FlatJSONObject.withMembers(of: bytes) { _ in })
      #expect(Variables.values(in: bytes) == nil)
    }
  }

  @Test("values of more than 64 KiB belong into a HASH")
  func bounds() {
    let long = String(repeating: "x", count: 70_000)
    let complaint = JobRefusalTests.complaint(
      fields: #""notification":{"body":"B"},"variables":{"u1":{"a":"\#(long)"}}"#)
    #expect(
      complaint
        == "/variables: must be at most 65536 bytes of JSON, is 70015: fill a HASH and name it in variables_key"
    )
  }

  @Test(
    "variables that cannot be used are refused",
    arguments: [
      (#""variables":[1]"#, "/variables: must be an object, is an array"),
      (#""variables":{"u1":"Ann"}"#, "/variables/u1: must be an object of the user's values"),
      (#""variables":{"u1":{"a":[]}}"#, "/variables/u1/a: must be a string, a number or a boolean"),
      (#""variables":{"":{}}"#, "/variables/: must not be empty"),
      (#""variables":{},"variables_key":"k""#, "/variables_key: must be left out where variables"),
      (#""variables_key":"""#, "/variables_key: must not be empty"),
      (#""variables_key":7"#, "/variables_key: must be a string, is a number"),
    ])
  func refuses(fields: String, expected: String) {
    let complaint = JobRefusalTests.complaint(
      fields: #""notification":{"body":"B"},\#(fields)"#)
    #expect(complaint.contains(expected), "\(complaint)")
  }
}
