extension Int {
  /// For a message: 4321 is "4,321".
  var grouped: String {
    var text = ""
    for (position, digit) in String(self).reversed().enumerated() {
      if position > 0, position % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
