/// Numbers as people read them.
package enum Figure {
  /// With that many decimals, half away from zero; `-` for what is not a number.
  package static func text(_ value: Double, decimals: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "-" }
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded(.toNearestOrAwayFromZero))
    let whole = grouped(Int(scaled.magnitude) / scale)
    let sign = scaled < 0 ? "-" : ""
    guard decimals > 0 else { return sign + whole }
    let fraction = String(Int(scaled.magnitude) % scale)
    return sign + whole + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }

  /// 1234567 → `1,234,567`.
  package static func grouped(_ value: Int) -> String {
    var digits = Array(String(value.magnitude))
    var at = digits.count - 3
    while at > 0 {
      digits.insert(",", at: at)
      at -= 3
    }
    return (value < 0 ? "-" : "") + String(digits)
  }
}
