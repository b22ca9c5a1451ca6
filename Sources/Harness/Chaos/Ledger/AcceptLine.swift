/// One line of the simulator's accept log, as far as it matters here.
struct AcceptLine: Sendable, Equatable {
  var atMs: Int64
  /// The ledger's number of the job; nil when the topic names none.
  var job: Int?
  /// The number of the user whose token it is; nil when it is nobody's.
  var user: Int?
  /// The connection that it came by, counted from the first that was opened; nil when that is no number.
  var connection: Int?

  /// `epoch_ms network token topic connection stream body_hash`
  init?(_ line: UnsafeRawBufferPointer) {
    var fields = (0, 0, 0, 0, 0)
    var found = 0
    for index in line.indices where line[index] == UInt8(ascii: " ") {
      switch found {
      case 0: fields.0 = index
      case 1: fields.1 = index
      case 2: fields.2 = index
      case 3: fields.3 = index
      default: fields.4 = index
      }
      found += 1
      if found == 5 { break }
    }
    guard found == 5, let atMs = Self.decimal(line[..<fields.0]) else { return nil }
    self.atMs = Int64(atMs)
    let token = line[(fields.1 + 1)..<fields.2]
    if token.count == Crowd.tokenDigits { user = Self.hex(token.suffix(Crowd.numberDigits)) }
    let topic = line[(fields.2 + 1)..<fields.3]
    if topic.starts(with: LedgerEntry.topicStart.utf8) {
      job = Self.decimal(topic.dropFirst(LedgerEntry.topicStart.utf8.count))
    }
    connection = Self.decimal(line[(fields.3 + 1)..<fields.4])
  }

  private static func decimal(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
    guard !text.isEmpty, text.count < 19 else { return nil }
    var value = 0
    for byte in text {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    return value
  }

  private static func hex(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
    var value: UInt64 = 0
    for byte in text {
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x61...0x66: digit = byte - 0x57
      default: return nil
      }
      value = value << 4 | UInt64(digit)
    }
    return Int(exactly: value)
  }
}
