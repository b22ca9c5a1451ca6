import Testing

@testable import Redis

@Suite struct ReplyReaderTests {
  private static let wire =
    "+OK\r\n:42\r\n$-1\r\n$3\r\na\r\n\r\n*2\r\n$1\r\nx\r\n*1\r\n:7\r\n-ERR no\r\n"
  private static let values: [RESPValue] = [
    .status("OK"), .integer(42), .null, .string(Array("a\r\n".utf8)),
    .array([.string(Array("x".utf8)), .array([.integer(7)])]),
    .error(.server(code: "ERR", message: "no")),
  ]

  private func read(_ text: String, in size: Int) throws -> [RESPValue] {
    let reader = ReplyReader()
    var values: [RESPValue] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { try reader.feed($0) }
      while try reader.next({ values.append(RESPValue($0)) }) {}
    }
    return values
  }

  @Test(arguments: [1, 2, 3, 5, 1000])
  func `replies are the same however their bytes are cut`(size: Int) throws {
    #expect(try read(Self.wire, in: size) == Self.values)
  }

  @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n", "*2000000000\r\n", "$abc\r\n", "*1\r\n!x\r\n"])
  func `what is no RESP or announces too much is refused`(text: String) {
    #expect(throws: RedisError.self) { try read(text, in: 1000) }
  }

  /// hiredis 1.x reads these, 0.14 does not.
  @Test(
    "a type of RESP3, which nobody asked for, is refused with a sentence",
    arguments: [
      ",3.14\r\n", ",inf\r\n", "#t\r\n", "_\r\n", "(123456789012345678901234567890\r\n",
      "=7\r\ntxt:abc\r\n", "%1\r\n+a\r\n:1\r\n", "~1\r\n+a\r\n", ">1\r\n+a\r\n",
      "|1\r\n+a\r\n:1\r\n+b\r\n",
    ])
  func resp3(text: String) {
    for wire in [text, "*1\r\n" + text, "*2\r\n:1\r\n" + text] {
      #expect(throws: RedisError.self) { try read(wire, in: 1000) }
      #expect(throws: RedisError.self) { try read(wire, in: 1) }
    }
  }

  @Test(
    "arrays are read 7 deep, and refused when deeper, however deep", arguments: [8, 9, 200_000])
  func nesting(depth: Int) throws {
    func nested(_ depth: Int) -> String { String(repeating: "*1\r\n", count: depth) + ":1\r\n" }
    var expected = RESPValue.integer(1)
    for _ in 0..<7 { expected = .array([expected]) }
    #expect(try read(nested(7), in: 1000) == [expected])
    #expect(throws: RedisError.protocolViolation("arrays are nested too deep")) {
      try read(nested(depth), in: 1000)
    }
  }

  @Test func `of a reply that is not complete its beginning can be read`() throws {
    let reader = ReplyReader()
    func beginning(after text: String) throws -> RESPValue? {
      try Array(text.utf8).withUnsafeBytes { try reader.feed($0) }
      #expect(try !reader.next { _ in })
      return reader.beginning.map { RESPValue($0) }
    }
    #expect(try beginning(after: "*2") == nil)
    #expect(try beginning(after: "\r\n") == .array([.null, .null]))
    #expect(
      try beginning(after: "*3\r\n$2\r\nid\r\n$9\r\nhalf")
        == .array([.array([.string(Array("id".utf8)), .null, .null]), .null]))
    #expect(reader.waiting == "9\r\nhalf".utf8.count, "the type is read")
    try Array("whole\r\n:1\r\n:2\r\n".utf8).withUnsafeBytes { try reader.feed($0) }
    var whole: RESPValue?
    #expect(try reader.next { whole = RESPValue($0) })
    #expect(
      whole
        == .array([
          .array([.string(Array("id".utf8)), .string(Array("halfwhole".utf8)), .integer(1)]),
          .integer(2),
        ]))
    #expect(reader.beginning == nil && reader.waiting == 0)
  }

  @Test func `a reply over the limit is refused before it is complete`() {
    let reader = ReplyReader(bytesMax: 1000)
    #expect(throws: RedisError.self) {
      let chunk = [UInt8]("$100000\r\n".utf8) + [UInt8](repeating: 120, count: 400)
      for _ in 0..<10 {
        try chunk.withUnsafeBytes { try reader.feed($0) }
        _ = try reader.next { _ in }
      }
    }
  }
}
