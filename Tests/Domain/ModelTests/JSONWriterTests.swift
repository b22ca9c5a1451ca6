import Model
import Testing

@Suite struct JSONWriterTests {
  @Test("canonical JSON sorts names by their bytes at every level, and only there")
  func canonical() throws {
    let value = try JSONParser().parse(#"{"b":[{"z":1,"a":2}],"B":0,"é":1,"aa":1,"a":2}"#)
    #expect(
      value.text(canonical: true) == #"{"B":0,"a":2,"aa":1,"b":[{"a":2,"z":1}],"é":1}"#)
    #expect(value.text() == #"{"b":[{"z":1,"a":2}],"B":0,"é":1,"aa":1,"a":2}"#)
  }

  @Test("large objects and long texts are written whole", arguments: [2, 32, 33, 100])
  func large(count: Int) throws {
    let names = (0..<count).map { "name-\($0 + 100)" }
    var object = JSONObject()
    for name in names.reversed() {
      object.add(.string(String(repeating: "x", count: 700) + name), for: name)
    }
    let bytes = JSONValue.object(object).bytes(canonical: true)
    let members = try #require(try JSONParser().parse(bytes).objectValue).members
    #expect(members.map(\.name) == names)
    #expect(
      members.map(\.value.stringValue) == names.map { String(repeating: "x", count: 700) + $0 })
  }

  @Test("every control character, quote and backslash is escaped, and reads back")
  func escaping() throws {
    let all = String(String.UnicodeScalarView((0..<0x80).map { Unicode.Scalar(UInt8($0)) }))
    var bytes: [UInt8] = []
    JSONWriter.appendString(all, to: &bytes)
    #expect(!bytes.contains { $0 < 0x20 })
    #expect(try JSONParser().parse(bytes).stringValue == all)
    bytes = []
    JSONWriter.appendString("a\"b\\c\n\r\t\u{8}\u{C}\u{1}d", to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == #""a\"b\\c\n\r\t\b\f\u0001d""#)
  }

  @Test("objects are equal whatever the order of their members")
  func equality() throws {
    let parser = JSONParser()
    #expect(try parser.parse(#"{"a":1,"b":2}"#) == parser.parse(#"{"b":2,"a":1}"#))
    #expect(try parser.parse(#"{"a":1}"#) != parser.parse(#"{"a":1,"b":2}"#))
    #expect(try parser.parse("[1,2]") != parser.parse("[2,1]"))
    #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
  }

  @Test("a member can be set, replaced and removed, in small and in large objects")
  func members() {
    for count in [3, 12, 13, 14, 40] {
      var object = JSONObject()
      for number in 0..<count { object["k\(number)"] = .integer(number) }
      object["k1"] = .bool(true)
      object["k0"] = nil
      #expect(object.count == count - 1)
      #expect(object["k0"] == nil)
      #expect(object["k1"] == .bool(true))
      for number in 2..<count { #expect(object["k\(number)"] == .integer(number)) }
      #expect(object.members.first?.name == "k1")
    }
  }
}
