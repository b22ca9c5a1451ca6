internal import Model

/// The tab-separated fields of a borrowed line, taken one after the other.
struct TabFields {
  private var rest: UnsafeRawBufferPointer
  private var isAtEnd = false

  init(_ line: UnsafeRawBufferPointer) { rest = line }

  /// The next field, possibly empty; nil behind the last.
  mutating func next() -> UnsafeRawBufferPointer? {
    guard !isAtEnd else { return nil }
    guard let end = rest.offset(of: UInt8(ascii: "\t")) else {
      isAtEnd = true
      defer { rest = UnsafeRawBufferPointer(start: nil, count: 0) }
      return rest
    }
    let field = UnsafeRawBufferPointer(rebasing: rest[..<end])
    rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
    return field
  }

  /// The rest of the line, tabs included.
  var remainder: UnsafeRawBufferPointer { rest }

  /// A field of decimal digits; nil for anything else and for numbers beyond 64 bits.
  mutating func nextNumber() -> UInt64? {
    guard let digits = next(), !digits.isEmpty else { return nil }
    return decimal(digits)
  }
}

func decimal(_ digits: UnsafeRawBufferPointer) -> UInt64? {
  // Below 10^19 no sum can pass 64 bits.
  guard digits.count < 20 else { return longDecimal(digits) }
  var value: UInt64 = 0
  for digit in digits {
    let number = digit &- UInt8(ascii: "0")
    guard number <= 9 else { return nil }
    value = value &* 10 &+ UInt64(number)
  }
  return value
}

private func longDecimal(_ digits: UnsafeRawBufferPointer) -> UInt64? {
  var value: UInt64 = 0
  for digit in digits {
    let number = digit &- UInt8(ascii: "0")
    let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
    let (sum, carry) = tens.addingReportingOverflow(UInt64(number))
    guard number <= 9, !overflow, !carry else { return nil }
    value = sum
  }
  return value
}

extension RawRepresentable where RawValue == String, Self: CaseIterable {
  /// The case whose name these bytes spell; no string is made.
  init?(spelt bytes: UnsafeRawBufferPointer) {
    for candidate in Self.allCases {
      var name = candidate.rawValue
      guard name.withUTF8({ bytes.isEqual(to: UnsafeRawBufferPointer($0)) }) else { continue }
      self = candidate
      return
    }
    return nil
  }
}
