/// A version of numbers with dots between them, compared number by number: 2.10 is later than 2.9, and 2.1 is 2.1.0. Of numbers
/// beyond 64 bits each is as large as any other.
struct DottedVersion: Sendable, Equatable, Comparable, CustomStringConvertible {
  /// Without zeros at the end.
  private let numbers: [UInt64]

  /// Nil unless the whole text is a version of at most `Limits.versionNumbersMax` numbers.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let (numbers, length) = bytes.withUnsafeBytes({ Self.read($0) }), length == bytes.count,
      numbers.count <= Limits.versionNumbersMax
    else { return nil }
    self.init(numbers)
  }

  /// The version at the front of what an app or a system calls its own: `3.2.1-rc1` is 3.2.1.
  /// - Returns: nil when it does not begin with a number.
  init?(leading text: UnsafeRawBufferPointer) {
    guard let (numbers, _) = Self.read(text) else { return nil }
    self.init(numbers)
  }

  private init(_ numbers: [UInt64]) {
    let last = numbers.lastIndex { $0 > 0 }
    self.numbers = Array(numbers.prefix(last.map { $0 + 1 } ?? 0))
  }

  /// The numbers at the front, and how many bytes they take.
  private static func read(_ text: UnsafeRawBufferPointer) -> (numbers: [UInt64], length: Int)? {
    var numbers: [UInt64] = []
    var position = 0
    var end = 0
    while position < text.count, let digit = digit(text[position]) {
      var number = digit
      position += 1
      while position < text.count, let digit = Self.digit(text[position]) {
        let (tenfold, isTooLarge) = number.multipliedReportingOverflow(by: 10)
        let (sum, isOver) = tenfold.addingReportingOverflow(digit)
        number = isTooLarge || isOver ? .max : sum
        position += 1
      }
      numbers.append(number)
      end = position
      guard position < text.count, text[position] == UInt8(ascii: ".") else { break }
      position += 1
    }
    return numbers.isEmpty ? nil : (numbers, end)
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      ? UInt64(byte - UInt8(ascii: "0")) : nil
  }

  static func < (one: DottedVersion, other: DottedVersion) -> Bool {
    one.numbers.lexicographicallyPrecedes(other.numbers)
  }

  var description: String {
    numbers.isEmpty ? "0" : numbers.map { "\($0)" }.joined(separator: ".")
  }
}
