/// Instants written as RFC 3339 says: `2026-11-21T09:30:00.250+01:00`.
package enum RFC3339 {
  /// Longer is refused; nanoseconds and an offset need 35.
  private static let bytesMax = 40

  /// Milliseconds since 1970-01-01T00:00:00Z; nil when `text` is not such an instant, or one before 1970.
  /// Digits beyond the millisecond are cut off. A leap second counts as the second after it.
  package static func milliseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8.prefix(bytesMax + 1))
    guard bytes.count >= 20, bytes.count <= bytesMax,
      let year = DecimalDigits.number(bytes[0..<4]), bytes[4] == UInt8(ascii: "-"),
      let month = DecimalDigits.number(bytes[5..<7]), bytes[7] == UInt8(ascii: "-"),
      let day = DecimalDigits.number(bytes[8..<10]),
      let date = CivilDate(year: year, month: month, day: day),
      bytes[10] | 0x20 == UInt8(ascii: "t") || bytes[10] == UInt8(ascii: " "),
      let hour = DecimalDigits.number(bytes[11..<13]), hour < 24, bytes[13] == UInt8(ascii: ":"),
      let minute = DecimalDigits.number(bytes[14..<16]), minute < 60,
      bytes[16] == UInt8(ascii: ":"),
      let second = DecimalDigits.number(bytes[17..<19]), second <= 60
    else { return nil }
    var rest = bytes[19...]
    guard let fractionMs = fraction(&rest), let offsetMinutes = offset(rest) else { return nil }
    let minutes = (date.daysSinceEpoch * 24 + hour) * 60 + minute - offsetMinutes
    let ms = Int64(minutes * 60 + second) * 1_000 + Int64(fractionMs)
    return ms >= 0 ? ms : nil
  }

  /// Takes `.250` off the front; no fraction is 0.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int? {
    guard rest.first == UInt8(ascii: ".") else { return 0 }
    rest.removeFirst()
    var ms = 0
    var count = 0
    while let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      if count < 3 { ms = ms * 10 + Int(byte - UInt8(ascii: "0")) }
      count += 1
      rest.removeFirst()
    }
    guard count > 0 else { return nil }
    for _ in min(count, 3)..<3 { ms *= 10 }
    return ms
  }

  /// Minutes east of UTC.
  private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
    let bytes = Array(text)
    if bytes.count == 1, bytes[0] | 0x20 == UInt8(ascii: "z") { return 0 }
    guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
      bytes[3] == UInt8(ascii: ":"), let hours = DecimalDigits.number(bytes[1..<3]), hours < 24,
      let minutes = DecimalDigits.number(bytes[4..<6]), minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (bytes[0] == UInt8(ascii: "-") ? -1 : 1)
  }
}
