/// Numbers as people read them.
package enum FigureText {
  /// 1,234,567
  package static func count(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// `94.1 %`; `<0.1 %` and `>99.9 %` where rounding would claim none or all.
  package static func share(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "" }
    // A record that does not add up may have a part beyond its whole.
    let tenths = Int(min((Double(part) / Double(whole) * 1_000).rounded(), 1_000_000))
    if tenths == 0, part > 0 { return "<0.1 %" }
    if tenths == 1_000, part < whole { return ">99.9 %" }
    return "\(tenths / 10).\(tenths % 10) %"
  }

  /// `850 ms`, `12.3 s`, `4 min 05 s`, `3 h 20 min`, `2 d 4 h`.
  package static func duration(ms: Int64) -> String {
    let ms = max(ms, 0)
    if ms < 1_000 { return "\(ms) ms" }
    if ms < 60_000 { return "\(ms / 1_000).\(ms % 1_000 / 100) s" }
    let seconds = ms / 1_000
    if seconds < 3_600 { return "\(seconds / 60) min \(padded(seconds % 60)) s" }
    if seconds < 86_400 { return "\(seconds / 3_600) h \(padded(seconds % 3_600 / 60)) min" }
    return "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
  }

  /// `0:42`, `12:05`, `1:02:03`.
  package static func clock(seconds: Int) -> String {
    let (hours, minutes, rest) = (seconds / 3_600, seconds % 3_600 / 60, seconds % 60)
    return hours > 0
      ? "\(hours):\(padded(minutes)):\(padded(rest))" : "\(minutes):\(padded(rest))"
  }

  /// `64 MiB`
  package static func bytes(_ number: Int) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(number)
    var unit = 0
    while value >= 1_024, unit < units.count - 1 {
      value /= 1_024
      unit += 1
    }
    return "\(Int(value.rounded())) \(units[unit])"
  }

  private static func padded(_ number: some BinaryInteger) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
