extension TimeZoneRules {
  /// From a TZif file (RFC 9636) of any version; nil for what is none.
  package init?(tzif bytes: [UInt8]) {
    guard let first = Block(bytes, at: 0, timeBytes: 4) else { return nil }
    guard bytes[4] >= UInt8(ascii: "2") else {
      self.init(first, footer: nil)
      return
    }
    // The first block is for readers of the first version: the second says the same for all time.
    guard let block = Block(bytes, at: first.end, timeBytes: 8) else { return nil }
    let footer = bytes[block.end...]
    guard footer.first == UInt8(ascii: "\n"),
      let end = footer.dropFirst().firstIndex(of: UInt8(ascii: "\n"))
    else { return nil }
    let text = String(decoding: footer[footer.startIndex + 1..<end], as: UTF8.self)
    if text.isEmpty {
      self.init(block, footer: nil)
    } else {
      guard let yearly = YearlyClockRule(text) else { return nil }
      self.init(block, footer: yearly)
    }
  }

  private init?(_ block: Block, footer: YearlyClockRule?) {
    // The first type holds before all changes (RFC 9636, 3.2).
    guard let first = block.offsets.first else { return nil }
    firstOffset = first
    yearly = footer
    var changes: [Change] = []
    for (seconds, type) in zip(block.times, block.types) {
      guard type < block.offsets.count, seconds > changes.last?.atSeconds ?? Int.min else {
        return nil
      }
      changes.append(Change(atSeconds: seconds, offset: block.offsets[type]))
    }
    self.changes = changes
  }

  /// One header and the data behind it.
  private struct Block {
    /// Behind all of it.
    let end: Int
    let times: [Int]
    /// For each time, a position in `offsets`.
    let types: [Int]
    let offsets: [Int]

    init?(_ bytes: [UInt8], at start: Int, timeBytes: Int) {
      let header = start + 44
      guard bytes.count >= header, bytes[start..<start + 4].elementsEqual("TZif".utf8) else {
        return nil
      }
      // isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt
      let counts = (0..<6).map { Self.number(bytes[(start + 20 + $0 * 4)...].prefix(4)) }
      guard counts.allSatisfy({ (0...10_000).contains($0) }) else { return nil }
      let (timeCount, typeCount) = (counts[3], counts[4])
      let typesAt = header + timeCount * timeBytes
      let offsetsAt = typesAt + timeCount
      end =
        offsetsAt + typeCount * 6 + counts[5] + counts[2] * (timeBytes + 4) + counts[1] + counts[0]
      guard bytes.count >= end else { return nil }
      times = (0..<timeCount).map {
        Self.number(bytes[(header + $0 * timeBytes)...].prefix(timeBytes))
      }
      types = bytes[typesAt..<offsetsAt].map { Int($0) }
      offsets = (0..<typeCount).map { Self.number(bytes[(offsetsAt + $0 * 6)...].prefix(4)) }
      guard offsets.allSatisfy({ abs($0) < TimeZoneRules.offsetMax }) else { return nil }
    }

    /// A signed number, the high byte first.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
      let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return bytes.count == 4 ? Int(Int32(truncatingIfNeeded: bits)) : Int(Int64(bitPattern: bits))
    }
  }
}
