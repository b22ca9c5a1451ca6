import Model
import Testing

@testable import HTTP2
@testable import Providers
@testable import Worker

/// What is filled in for each push.
@Suite struct BodyTemplateTests {
  /// A body in which the placeholders of these numbers are filled in.
  private func template(
    _ text: String, limit: (text: String, bytesMax: Int, isJSON: Bool)? = nil
  ) throws -> BodyTemplate {
    try #require(
      BodyTemplate(
        RenderedPush(
          headers: [], path: .fixed([]), body: .shared(Array(text.utf8)), dryRun: .off,
          limits: limit.map {
            [
              RenderedPush.Limit(
                text: Array($0.text.utf8), bytesMax: $0.bytesMax, isJSON: $0.isJSON)
            ]
          } ?? [])))
  }

  /// The body with these values, or why there is none; whichever way it is made.
  private func fill(_ template: BodyTemplate, _ values: String?...) -> String {
    let arena = ByteArena()
    var body: [UInt8] = [1, 2, 3]
    let token = arena.copy("t1")
    let kept = values.map { value in
      value.map { value in
        var escaped: [UInt8] = []
        Array(value.utf8).withUnsafeBytes { JSONWriter.appendEscaped($0, to: &escaped) }
        return escaped.withUnsafeBytes { arena.copy($0) }
      }
    }
    let hindrance = template.fill(&body, with: kept[...], tokens: [token])
    if template.aroundOne != nil {
      switch (template.join(with: kept[...]), hindrance) {
      case (.success(var joined), nil):
        let bytes = [UInt8](unsafeUninitializedCapacity: joined.count) { target, count in
          count = joined.take(into: UnsafeMutableRawBufferPointer(target))
        }
        #expect(bytes == body)
      case (.failure(.missing), .missing?), (.failure(.tooLarge), .tooLarge?): break
      default: Issue.record("joined and filled differ")
      }
    }
    switch hindrance {
    case nil: return String(decoding: body, as: UTF8.self)
    case .missing(let number)?: return "missing \(number)"
    case .tooLarge?: return "too large"
    }
  }

  private let mark = Mark.value(0).text

  @Test("values stand where their marks were, escaped for JSON")
  func fills() throws {
    let template = try template(#"{"a":"\#(mark)!","b":"\#(Mark.value(1).text)"}"#)
    #expect(fill(template, "Ann", "ü") == #"{"a":"Ann!","b":"ü"}"#)
    #expect(fill(template, "\"\\\n\u{1}", "") == #"{"a":"\"\\\n\u0001!","b":""}"#)
  }

  @Test("a value that is missing is named, and one of another text is not missed")
  func missing() throws {
    #expect(fill(try template("a\(Mark.value(1).text)"), nil, nil) == "missing 1")
    #expect(fill(try template("a\(Mark.value(1).text)"), nil, "x") == "ax")
  }

  @Test("a badge stands as a number, and as the largest one where its network takes no more")
  func badge() throws {
    let marks = [Mark.badge(atMost: nil).text, Mark.badge(atMost: 99).text]
    let template = try template(
      #"{"a":\#(marks[0]),"b":\#(marks[1])}"#, limit: (marks[0] + marks[1], 12, true))
    func fill(_ badge: Int) -> String? {
      var body: [UInt8] = []
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      guard template.fill(&body, with: [], badge: badge, tokens: [none]) == nil else { return nil }
      return String(decoding: body, as: UTF8.self)
    }
    #expect(fill(7) == #"{"a":7,"b":7}"#)
    #expect(fill(123) == #"{"a":123,"b":99}"#)
    #expect(fill(1_234_567_890) == #"{"a":1234567890,"b":99}"#)
  }

  @Test("a badge counts as ten digits, so that what is too long is so before a badge is raised")
  func longestBadge() throws {
    for (max, text) in [(nil as Int?, "\"a\":"), (99, "\"ab\":")] {
      let mark = Mark.badge(atMost: max).text
      let bytes = text.utf8.count + (max == nil ? 10 : 2)
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      for (bytesMax, isKept) in [(bytes, true), (bytes - 1, false)] {
        let template = try template(text + mark, limit: (text + mark, bytesMax, true))
        var body: [UInt8] = []
        for badge in [1, 2_147_483_647] {
          #expect((template.fill(&body, with: [], badge: badge, tokens: [none]) == nil) == isKept)
        }
        #expect((template.hindrance(with: []) == nil) == isKept)
      }
    }
  }

  @Test("a text in which nothing is filled in is no template")
  func plain() {
    let rendered = RenderedPush(
      headers: [], path: .fixed([]), body: .shared(Array("a".utf8)), dryRun: .off)
    #expect(BodyTemplate(rendered) == nil)
  }

  @Test("what the network counts is counted as it is sent, to the byte")
  func limits() throws {
    let json = try template(mark, limit: ("ab\(mark)", 6, true))
    #expect(fill(json, "xxxx") == "xxxx")
    #expect(fill(json, "xxxxx") == "too large")
    // An escape is two bytes of JSON and one of text.
    #expect(fill(json, "\n\n\n") == "too large")
    let text = try template(mark, limit: ("ab\(mark)", 6, false))
    #expect(fill(text, "\n\n\n") == #"\n\n\n"#)
    #expect(fill(text, "\u{1}\u{1}\u{1}\u{1}\u{1}") == "too large")
  }

  @Test("what no network counts does not grow beyond every bound")
  func boundsBody() throws {
    let template = try template(String(repeating: mark, count: 100))
    #expect(fill(template, String(repeating: "x", count: 1_000)) == "too large")
  }

  @Test("APNs's limit holds for a body that is filled in, to the byte")
  func apnsLimit() throws {
    let content = try MessageVariants(
      JobContent(
        bytes: Array(#"{"notification":{"title":"{{name}}"},"variables_key":"k"}"#.utf8)))
    let network = try TestDirectory.of(.production).entries[0].provider
    let rendered = try network.render(content.contents[0], createdAtMs: 0, nowMs: 0)
    let template = try #require(BodyTemplate(rendered))
    let room = 4_096 - #"{"aps":{"alert":{"title":""}}}"#.utf8.count
    #expect(fill(template, String(repeating: "x", count: room)).utf8.count == 4_096)
    #expect(fill(template, String(repeating: "x", count: room + 1)) == "too large")
  }
}
