/// The mark that some editors put before a text; JSON does not have it, and a reader may pass over it (RFC 8259, 8.1).
enum ByteOrderMark {
  static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]
}
