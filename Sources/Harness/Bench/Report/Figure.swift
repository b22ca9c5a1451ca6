import Typesetting

/// Measured numbers as people read them.
package enum Figure {
  /// With that many decimals, half away from zero; `-` for what is not a number.
  package static func text(_ value: Double, decimals: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "-" }
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded(.toNearestOrAwayFromZero))
    let whole = FigureText.count(Int(scaled.magnitude) / scale)
    let sign = scaled < 0 ? "-" : ""
    guard decimals > 0 else { return sign + whole }
    let fraction = String(Int(scaled.magnitude) % scale)
    return sign + whole + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }
}
