import Testing

@testable import Server

/// The rules for what a request says.
@Suite struct RequestTextTests {
  private static func fault(
    target: String = "/a", version: (Int, Int) = (1, 1), _ fields: [(String, String)]
  ) -> Int? {
    HeadRules.fault(
      in: HeadRules.Head(
        method: "GET", target: target, major: version.0, minor: version.1,
        fields: fields.map { (name: $0.0, value: $0.1) }))?.status
  }

  @Test("a head that keeps the rules is let in")
  func good() {
    #expect(Self.fault([("Host", "a")]) == nil)
    #expect(Self.fault([("host", "[::1]:8080"), ("X", "t\tab é")]) == nil)
    #expect(Self.fault(version: (1, 0), []) == nil)
    #expect(Self.fault([("Host", "a"), ("Content-Length", "0")]) == nil)
    #expect(Self.fault([("Host", "a"), ("Transfer-Encoding", "Chunked")]) == nil)
    #expect(Self.fault([("Host", "a"), ("Expect", "100-Continue")]) == nil)
    #expect(Self.fault(target: "/a?b=c%20d&e=/", [("Host", "a")]) == nil)
  }

  @Test("a head that breaks one is refused, whatever a parser says")
  func bad() {
    #expect(Self.fault([]) == 400)
    #expect(Self.fault([("Host", "a"), ("HOST", "a")]) == 400)
    #expect(Self.fault([("Host", "a b")]) == 400)
    #expect(Self.fault(version: (1, 2), [("Host", "a")]) == 505)
    #expect(Self.fault(version: (2, 0), [("Host", "a")]) == 505)
    for target in ["", "*", "a", "http://a/b", "/é", "/a b", "/a#b", "/\u{7f}"] {
      #expect(Self.fault(target: target, [("Host", "a")]) == 400, "\(target)")
    }
    for (field, status) in [
      (("Content-Length", "+1"), 400), (("Content-Length", "1,1"), 400),
      (("Content-Length", ""), 400), (("Content-Length", "9999999999999999999"), 400),
      (("Transfer-Encoding", "gzip"), 501), (("Transfer-Encoding", "chunked, chunked"), 501),
      (("Expect", "x"), 417), (("X", "a\u{0}"), 400), (("X", "a\nb"), 400),
    ] {
      #expect(Self.fault([("Host", "a"), field]) == status, "\(field)")
    }
    #expect(Self.fault([("Host", "a"), ("Authorization", "a"), ("authorization", "a")]) == 400)
    #expect(
      Self.fault([("Host", "a"), ("Content-Length", "1"), ("Transfer-Encoding", "chunked")]) == 400)
    #expect(Self.fault(version: (1, 0), [("Transfer-Encoding", "chunked")]) == 400)
  }

  @Test(
    "a query is read as browsers and libraries write it",
    arguments: [
      ("a=1&b=2", ["a": "1", "b": "2"]), ("a=x+y%2B%26z", ["a": "x y+&z"]), ("a", ["a": ""]),
      ("a=b=c", ["a": "b=c"]), ("&&a=1&", ["a": "1"]), ("%C3%A9=%e2%82%ac", ["é": "€"]), ("", [:]),
    ])
  func query(text: String, fields: [String: String]) throws {
    let read = try QueryText.fields(text[...])
    #expect(Dictionary(uniqueKeysWithValues: read.map { ($0.name, $0.value) }) == fields)
  }

  @Test(
    "a query that cannot be read is refused",
    arguments: ["a=%", "a=%4", "a=%zz", "a=%00", "%ff=1", String(repeating: "a&", count: 21)])
  func badQuery(text: String) throws {
    let problem = #expect(throws: Problem.self) { _ = try QueryText.fields(text[...]) }
    #expect(problem?.status == 400)
  }

  @Test("an instant is written as HTTP has it")
  func date() {
    #expect(HTTPDate.text(of: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.text(of: 0) == "Thu, 01 Jan 1970 00:00:00 GMT")
  }

  @Test("bodies have so many bytes together, and room comes back")
  func allowance() {
    let allowance = BodyAllowance(bytesMax: 10, ofCallerMax: 10, keptForSmall: 0)
    func take(_ count: Int) -> Bool { allowance.take(count, of: "a", isSmall: false) }
    #expect(take(6) && !take(5) && take(4) && !take(1))
    allowance.giveBack(6, of: "a")
    #expect(take(5) && allowance.bytes == 9)
    #expect(!take(.max))
  }

  @Test("no caller takes the room of all, and large bodies leave some to small ones")
  func shares() {
    let allowance = BodyAllowance(bytesMax: 100, ofCallerMax: 40, keptForSmall: 20)
    #expect(allowance.take(40, of: "a", isSmall: false))
    #expect(!allowance.take(1, of: "a", isSmall: true))
    #expect(allowance.take(40, of: "b", isSmall: false))
    #expect(!allowance.take(1, of: "c", isSmall: false))
    #expect(allowance.take(20, of: "c", isSmall: true))
    allowance.giveBack(40, of: "a")
    #expect(allowance.take(20, of: "a", isSmall: false) && allowance.bytes == 80)
  }
}
