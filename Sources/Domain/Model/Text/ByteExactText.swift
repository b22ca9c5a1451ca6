/// Text compared byte for byte, as Redis keys are: `String` holds two normalisations of a name for equal.
struct ByteExactText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (one: ByteExactText, other: ByteExactText) -> Bool {
    TextRule.isSame(one.text, other.text)
  }

  func hash(into hasher: inout Hasher) {
    TextRule.withBytes(text) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
