import Testing

@testable import Server

@Suite struct PercentTextTests {
  @Test("text of a path keeps unreserved characters only")
  func encodes() {
    #expect(PercentText.encoded("aZ09-._~") == "aZ09-._~")
    #expect(PercentText.encoded("a:b/c %é") == "a%3Ab%2Fc%20%25%C3%A9")
  }

  @Test("each %XX is a byte, and all else is as it was")
  func decodes() {
    for (text, bytes) in [
      ("", ""), ("a+b", "a+b"), ("a%3Ab%2fc", "a:b/c"), ("%25%34%31", "%41"), ("é%C3%a9", "éé"),
    ] {
      #expect(PercentText.bytes(of: text.utf8) == Array(bytes.utf8), "\(text)")
      #expect(PercentText.legible(text) == bytes, "\(text)")
    }
    #expect(PercentText.bytes(of: "%ff%00".utf8) == [0xFF, 0])
  }

  @Test("a % without two digits is refused, or stays where any text must be read")
  func strays() {
    for (text, legible) in [
      ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%4g", "%4g"), ("%%41", "%A"), ("%4%41", "%4A"),
      ("%+1", "%+1"), ("a%", "a%"),
    ] {
      #expect(PercentText.bytes(of: text.utf8) == nil, "\(text)")
      #expect(PercentText.legible(text) == legible, "\(text)")
    }
  }
}
