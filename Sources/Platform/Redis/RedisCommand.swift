/// One command as a RESP array of byte strings, built in a buffer that can be used again.
///
/// Formatted here rather than by redisFormatCommandArgv: that allocates a block per command and wants pointer
/// and length arrays of all arguments at once, while arguments come one by one, from strings and from borrowed
/// replies.
package struct RedisCommand: Sendable {
  private(set) var body: [UInt8] = []
  /// How many arguments it has, its name among them.
  package private(set) var count = 0
  /// Room for most calls of functions, so that their buffers need not grow time and again.
  private static let usualBytes = 512

  package init(_ words: String...) {
    body.reserveCapacity(Self.usualBytes)
    for word in words { append(word) }
  }

  /// An empty command over room for so many bytes.
  package init(reservingBytes bytes: Int) { body.reserveCapacity(bytes) }

  /// Makes room for further arguments.
  /// - Parameter bytes: of all of them, without what stands around each.
  package mutating func reserve(arguments: Int, bytes: Int) {
    body.reserveCapacity(body.count + bytes + arguments * 12)
  }

  /// Forgets the arguments, keeps the buffer.
  package mutating func removeAll() {
    body.removeAll(keepingCapacity: true)
    count = 0
  }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  package mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    beginArgument(byteCount: bytes.count)
    body.append(contentsOf: bytes)
    endLine()
  }

  /// The number in decimal.
  package mutating func append(_ number: Int) {
    withDecimal(number) { append($0) }
  }

  package mutating func append(_ number: Int64) { append(Int(number)) }

  /// One argument of two parts: a prefix and the name behind it, without a string in between.
  package mutating func append(
    _ prefix: UnsafeRawBufferPointer, then name: UnsafeRawBufferPointer
  ) {
    beginArgument(byteCount: prefix.count + name.count)
    body.append(contentsOf: prefix)
    body.append(contentsOf: name)
    endLine()
  }

  /// Appends all that another command has, as further arguments.
  package mutating func append(argumentsOf other: RedisCommand) {
    body.append(contentsOf: other.body)
    count += other.count
  }

  private mutating func beginArgument(byteCount: Int) {
    count += 1
    // `$<bytes>` and the end of the line, put together from behind: in two words, for arguments are many and short.
    var line = (UInt64(0), UInt64(Self.lineEnd))
    var bytes = 2
    func put(_ byte: UInt8) {
      line = (line.0 << 8 | line.1 >> 56, line.1 << 8 | UInt64(byte))
      bytes += 1
    }
    var rest = byteCount
    repeat {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    put(UInt8(ascii: "$"))
    withUnsafeBytes(of: (line.1.littleEndian, line.0.littleEndian)) {
      body.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<bytes]))
    }
  }

  private static let lineEnd: UInt16 = 0x0a0d

  private mutating func endLine() {
    withUnsafeBytes(of: Self.lineEnd.littleEndian) { body.append(contentsOf: $0) }
  }
}

/// Calls the body with a number's decimal digits.
func withDecimal<Value>(_ number: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
  withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
    var at = digits.count
    var rest = number.magnitude
    repeat {
      at -= 1
      digits[at] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    } while rest > 0
    if number < 0 {
      at -= 1
      digits[at] = UInt8(ascii: "-")
    }
    return body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: digits[at...])))
  }
}
