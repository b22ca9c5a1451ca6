/// The bytes at the beginning of a string that stand in JSON as they are: no quote, no backslash, no control character.
/// They are looked at eight at a time, since most strings are such to their end.
struct PlainBytes {
  /// How many surely are; up to seven of the next may be, too.
  let count: Int
  /// Whether those are all ASCII.
  let areASCII: Bool

  init(_ content: UnsafeRawBufferPointer) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    /// The top bit of each byte that is 0, and of none before the first such byte.
    func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }
    var position = 0
    var seen: UInt64 = 0
    while position &+ 8 <= content.count {
      let word = content.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let controls = (word &- ones &* 0x20) & ~word & tops
      let quotes = zeros(word ^ ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = zeros(word ^ ones &* UInt64(UInt8(ascii: "\\")))
      if controls | quotes | backslashes != 0 { break }
      seen |= word
      position &+= 8
    }
    count = position
    areASCII = seen & tops == 0
  }
}
