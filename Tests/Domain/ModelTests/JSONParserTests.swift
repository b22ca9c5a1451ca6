import Model
import Testing

@Suite struct JSONParserTests {
  private static func complaint(_ bytes: [UInt8], depthMax: Int = 64) -> String {
    do {
      _ = try JSONParser(depthMax: depthMax).parse(bytes)
      return "accepted"
    } catch { return "\(error)" }
  }

  @Test(
    "valid JSON comes out as it went in",
    arguments: [
      "null", "true", "false", "0", "-0", "1.50", "-12e+3", "1E5", "\"\"", "\"aé日😀\"", "[]",
      "[1,[2,[]]]", "{}", "{\"b\":1,\"a\":{\"c\":[null]}}", "{\"\":\"\"}",
      "123456789012345678901234567890", "\"\\u0000\\u001f\\\"\\\\\"", "\"\u{7F}\u{2028}\"",
    ])
  func roundTrip(text: String) throws {
    #expect(try JSONParser().parse(text).text() == text)
  }

  @Test("escapes are read, surrogate pairs included")
  func escapes() throws {
    let value = try JSONParser().parse(#"  "\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0041x"  "#)
    #expect(value.stringValue == "\"\\/\u{8}\u{C}\n\r\té😀Ax")
  }

  @Test("a string of every plain byte before an escape is kept whole")
  func textAroundEscapes() throws {
    #expect(try JSONParser().parse(#""abcé\n日def""#).stringValue == "abcé\n日def")
  }

  @Test(
    "what RFC 8259 does not allow is refused at its byte",
    arguments: [
      ("", 0, "is empty"), (" ", 1, "ends where"), ("{", 1, "member's name"),
      ("[", 1, "ends where"), ("[1", 2, "ends within an array"), ("[1,]", 3, "should begin"),
      ("[1 2]", 3, "comma"), ("{\"a\"}", 4, "colon"), ("{\"a\":1,}", 7, "member's name"),
      ("{\"a\":1", 6, "ends within an object"), ("{\"a\":1 \"b\":2}", 7, "comma"),
      ("{a:1}", 1, "member's name"), ("01", 1, "one zero"), ("-", 1, "digit"),
      ("1.", 2, "digit"), (".5", 0, "begin"), ("+1", 0, "begin"), ("1e", 2, "digit"),
      ("1e+", 3, "digit"), ("NaN", 0, "begin"), ("tru", 0, "true"), ("nul", 0, "null"),
      ("falsy", 0, "false"), ("'a'", 0, "begin"), ("\"a", 2, "ends within a string"),
      ("\"a\\", 2, "ends within a string"), ("\"a\nb\"", 2, "control character"),
      ("\"\\n\u{1}\"", 3, "control character"), ("\"\\x\"", 1, "no such escape"),
      ("\"\\u12\"", 1, "four"), ("\"\\u12G4\"", 1, "four"), ("\"\\uD800\"", 7, "high surrogate"),
      ("\"\\uD800x\"", 7, "high surrogate"), ("\"\\uD800\\u0041\"", 7, "high surrogate"),
      ("\"\\uDC00\"", 1, "low surrogate"), ("1 2", 2, "more after"), ("{} x", 3, "more after"),
      ("\u{FEFF}{}", 0, "a byte order mark stands before the text"), ("// x", 0, "begin"),
    ])
  func refused(text: String, offset: Int, reason: String) {
    let complaint = Self.complaint(Array(text.utf8))
    #expect(complaint.hasPrefix("not valid JSON at byte \(offset): "), "\(complaint)")
    #expect(complaint.contains(reason), "\(complaint)")
  }

  @Test(
    "bytes that are not UTF-8 are refused in a string",
    arguments: [
      [0xFF], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
      [0xF8, 0x88, 0x80, 0x80, 0x80],
    ] as [[UInt8]])
  func invalidUTF8(bytes: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    #expect(Self.complaint([quote] + bytes + [quote]).contains("not valid UTF-8"))
    #expect(
      Self.complaint([quote] + Array("\\n".utf8) + bytes + [quote]).contains("not valid UTF-8"))
    #expect(Self.complaint(bytes) != "accepted")
  }

  @Test(
    "a text in another encoding than UTF-8 is refused with its encoding",
    arguments: [
      ([0xFF, 0xFE, 0x7B, 0, 0x7D, 0], "UTF-16"), ([0xFE, 0xFF, 0, 0x7B, 0, 0x7D], "UTF-16"),
      ([0x7B, 0, 0x7D, 0], "UTF-16"), ([0, 0x7B, 0, 0x7D], "UTF-16"),
      ([0xFF, 0xFE, 0, 0, 0x31, 0, 0, 0], "UTF-32"), ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x31], "UTF-32"),
      ([0x31, 0, 0, 0], "UTF-32"), ([0, 0, 0, 0x31], "UTF-32"),
    ] as [([UInt8], String)])
  func encodings(bytes: [UInt8], name: String) {
    #expect(
      Self.complaint(bytes)
        == "not valid JSON at byte 0: the text is in \(name); write it in UTF-8")
  }

  @Test("the length of a text in another encoding is refused as any text's")
  func longEncodings() {
    let bytes: [UInt8] = [0xFF, 0xFE, 0x7B, 0, 0x7D, 0]
    do {
      _ = try JSONParser(bytesMax: 5).parse(bytes)
      Issue.record("it was taken")
    } catch {
      #expect(error.message == "is 6 bytes long, at most 5 are read")
    }
  }

  @Test("a NUL is refused in the text and as a raw byte of a string")
  func nul() {
    #expect(Self.complaint([0]) != "accepted")
    #expect(Self.complaint(Array("{}".utf8) + [0]) != "accepted")
    #expect(Self.complaint([0x22, 0, 0x22]).contains("control character"))
  }

  @Test("nesting is allowed up to the limit and refused beyond it, however deep")
  func depth() {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    #expect(Self.complaint(nested(64)) == "accepted")
    #expect(Self.complaint(nested(65)).contains("deeper than 64"))
    #expect(Self.complaint(nested(1_000_000)).contains("deeper than 64"))
    let objects = Array(String(repeating: "{\"a\":", count: 100_000).utf8)
    #expect(Self.complaint(objects).contains("deeper than 64"))
    #expect(Self.complaint(nested(3), depthMax: 2).contains("deeper than 2"))
  }

  @Test("a repeated name is refused at its second place, in small and in large objects")
  func duplicates() {
    #expect(
      Self.complaint(Array(#"{"a":1,"\u0061":2}"#.utf8))
        == "not valid JSON at byte 7: \"a\" occurs twice in one object")
    let many = (0..<100).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
    #expect(Self.complaint(Array("{\(many)}".utf8)) == "accepted")
    #expect(Self.complaint(Array("{\(many),\"k57\":0}".utf8)).contains("\"k57\" occurs twice"))
  }

  @Test("names that only look the same are different names")
  func normalisation() throws {
    let object = try #require(
      try JSONParser().parse("{\"\u{E9}\":1,\"e\u{301}\":2}").objectValue)
    #expect(object["\u{E9}"] == .integer(1))
    #expect(object["e\u{301}"] == .integer(2))
  }

  @Test("documents over the limits of bytes, values and digits are refused")
  func limits() {
    let bytes = Array("[1,2,3]".utf8)
    #expect(throws: JSONSyntaxError.self) { try JSONParser(bytesMax: 6).parse(bytes) }
    #expect(throws: JSONSyntaxError.self) { try JSONParser(valuesMax: 3).parse(bytes) }
    #expect(throws: Never.self) { try JSONParser(bytesMax: 7, valuesMax: 4).parse(bytes) }
    #expect(Self.complaint(Array(repeating: UInt8(ascii: "1"), count: 65)) != "accepted")
    #expect(Self.complaint(Array(repeating: UInt8(ascii: "1"), count: 64)) == "accepted")
  }

  @Test("no cut, flip or insertion of a byte crashes the parser, and what it accepts it can write")
  func mutations() throws {
    let seed = Array(#"{"a":[1,-2.5e3,"x\u00e9\uD83D\uDE00é"],"b":{"c":null,"d":true}}"#.utf8)
    var tried: [[UInt8]] = seed.indices.map { Array(seed[..<$0]) }
    for position in seed.indices {
      for byte: UInt8 in [0, 0x22, 0x5C, 0x7B, 0x5D, 0x80, 0xC3, 0xFF, 0x2C] {
        var flipped = seed
        flipped[position] = byte
        var longer = seed
        longer.insert(byte, at: position)
        tried += [flipped, longer]
      }
    }
    for bytes in tried {
      guard let value = try? JSONParser().parse(bytes) else { continue }
      #expect(try JSONParser().parse(value.bytes()) == value)
    }
  }

  @Test("numbers keep their text and give their value when it fits")
  func numbers() throws {
    let numbers = try #require(
      try JSONParser().parse("[9223372036854775807,9223372036854775808,1.0,1e999,-3]").arrayValue)
    let values = numbers.map { value -> JSONNumber? in
      if case .number(let number) = value { number } else { nil }
    }
    #expect(values.map { $0?.int64 } == [.max, nil, nil, nil, -3])
    #expect(values.map { $0?.double } == [0x1p63, 0x1p63, 1, nil, -3])
  }
}
