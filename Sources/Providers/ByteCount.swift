/// A number of bytes for a message: 4321 is "4,321".
func grouped(_ count: Int) -> String {
  var text = ""
  for (position, digit) in String(count).reversed().enumerated() {
    if position > 0, position % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return String(text.reversed())
}
