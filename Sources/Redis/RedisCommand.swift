/// One command as a RESP array of byte strings, built in a buffer that can be used again.
///
/// Formatted here rather than by redisFormatCommandArgv: that allocates a block per command and wants pointer
/// and length arrays of all arguments at once, while arguments come one by one, from strings and from borrowed
/// replies.
package struct RedisCommand: Sendable {
  private(set) var body: [UInt8] = []
  private(set) var count = 0

  package init(_ words: String...) {
    for word in words { append(word) }
  }

  /// An empty command over room for so many bytes.
  package init(reservingBytes bytes: Int) { body.reserveCapacity(bytes) }

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

  /// One argument of several parts: a prefix and the name behind it, without a string in between.
  package mutating func append(_ parts: UnsafeRawBufferPointer...) {
    beginArgument(byteCount: parts.reduce(0) { $0 + $1.count })
    for part in parts { body.append(contentsOf: part) }
    endLine()
  }

  private mutating func beginArgument(byteCount: Int) {
    count += 1
    body.append(UInt8(ascii: "$"))
    withDecimal(byteCount) { body.append(contentsOf: $0) }
    endLine()
  }

  private mutating func endLine() {
    body.append(UInt8(ascii: "\r"))
    body.append(UInt8(ascii: "\n"))
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
