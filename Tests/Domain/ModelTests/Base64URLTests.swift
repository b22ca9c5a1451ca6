import Model
import Testing

@Suite struct Base64URLTests {
  @Test("Base64URL has one text for each sequence of bytes (RFC 4648, section 10)")
  func texts() {
    for (plain, text) in [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
      ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ] {
      #expect(Base64URL.text(of: Array(plain.utf8)) == text)
      #expect(Base64URL.bytes(of: Array(text.utf8)) == Array(plain.utf8))
    }
    #expect(Base64URL.text(of: [0xFB, 0xFF]) == "-_8")
    for text in ["Zg==", "Zh", "Z", "Zm9+", "Zm9/", "Zm 9v", "Zm9vA"] {
      #expect(Base64URL.bytes(of: Array(text.utf8)) == nil, "\(text)")
    }
  }
}
