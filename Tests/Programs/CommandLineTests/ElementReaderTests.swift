import LocalServices
import Testing

@testable import CommandLineInterface

@Suite struct ElementReaderTests {
  /// - Parameter readBytesMax: in what pieces the text arrives.
  private func elements(
    of text: String, bytesMax: Int = 40, readBytesMax: Int = 1 << 18
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    try PrivateFile.write(text, to: folder.file("in"))
    let descriptor = try InputFile.open(folder.file("in"))
    defer { InputFile.close(descriptor, "in") }
    let reader = ElementReader(
      descriptor: descriptor, name: "in", elementBytesMax: bytesMax, readBytesMax: readBytesMax)
    var elements: [String] = []
    while let next = try reader.next({ line in
      switch line {
      case .text(let bytes): String(decoding: bytes, as: UTF8.self)
      case .tooLong: "(too long)"
      }
    }) {
      elements.append(next)
      #expect(reader.lineNumber == elements.count)
    }
    #expect(reader.offset == text.utf8.count)
    return elements
  }

  private func failure(_ text: String) -> String {
    do {
      let read = try elements(of: text)
      return "none, but \(read)"
    } catch {
      return "\(error)"
    }
  }

  private static let three = [#"{"a": 1}"#, #"{"b": "}]{[\"\\"}"#, #"{"c": [{"d": {}}, []]}"#]

  private static func joined(_ separator: String) -> String { three.joined(separator: separator) }

  private static var exports: [String] {
    [
      "{ \"results\" :\n [\(joined(" ,\n"))], \"count\": {\"x\": [3]} }\n", "[\(joined(","))]",
      "{\"count\" : 3, \"className\":\"_Installation\",\"results\": [\(joined(","))]}",
      "\(joined("\n"))\n", joined(""), "\u{FEFF}[\(joined("\r\n,"))]\r\n",
    ]
  }

  @Test(
    "the three shapes of an export give the same elements, wherever a read ends",
    arguments: exports)
  func sameElements(text: String) throws {
    for readBytesMax in 1...text.utf8.count {
      #expect(try elements(of: text, readBytesMax: readBytesMax) == Self.three)
    }
  }

  @Test("pages that were joined to one file are read one after the other")
  func pages() throws {
    let text = "{\"results\":[{\"a\":1}]}\n\u{FEFF}{\"results\":[]}[{\"b\":2},{}]\n{\"c\":3}"
    #expect(try elements(of: text) == [#"{"a":1}"#, #"{"b":2}"#, "{}", #"{"c":3}"#])
    #expect(try elements(of: "") == [])
    #expect(try elements(of: " \n") == [])
  }

  @Test("an element over the limit is passed over and the next one is whole")
  func tooLong() throws {
    let long = "{\"a\": \"" + String(repeating: "}", count: 600_000) + "\"}"
    let text = "[{\"b\":1}, \(long), {\"c\":2}, \(long)]"
    #expect(
      try elements(of: text) == [#"{"b":1}"#, "(too long)", #"{"c":2}"#, "(too long)"])
    #expect(
      try elements(of: #"[{"abc":12345678}, {}]"#, bytesMax: 16) == [#"{"abc":12345678}"#, "{}"])
    #expect(try elements(of: #"[{"abc":12345678}, {}]"#, bytesMax: 15) == ["(too long)", "{}"])
  }

  @Test("what is no object is an element as well, for its reader to refuse")
  func others() throws {
    #expect(
      try elements(of: #"[null, 1,"a]", [2], {"b"; tru}]"#) == [
        "null", "1", "\"a]\"", "[2]", "{\"b\"; tru}",
      ])
  }

  @Test("brackets deeper than a parser goes still end where they end")
  func deep() throws {
    let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    #expect(try elements(of: "[{\"a\": \(deep)}, 1]", bytesMax: 300) == ["{\"a\": \(deep)}", "1"])
  }

  @Test("where brackets do not match the reading ends with the place")
  func broken() {
    #expect(failure(#"[{"a": 1}, {"b": [1}]"#).contains("at byte 19, near installation 2"))
    #expect(failure(#"[{} {}]"#).contains("a comma is missing at byte 4"))
    #expect(failure(#"{"a": 1}]"#).contains("neither an object nor an array stands at byte 8"))
    #expect(failure("[,]").contains("at byte 1"))
    #expect(failure("objectId,deviceToken\n").contains("is not valid JSON"))
  }

  @Test("a file that was cut off is not taken for a whole one")
  func cutOff() {
    let text = #"{"results": [{"a": "x"}, 12], "count": 2}"#
    for length in 1..<text.utf8.count {
      #expect(failure(String(text.prefix(length))).contains("ends too early"))
    }
  }
}
