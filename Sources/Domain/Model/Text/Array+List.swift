extension Array where Element == String {
  /// The words as a sentence lists them: "one, two or three".
  /// - Parameter conjunction: the word before the last one.
  package func list(before conjunction: String) -> String {
    guard let last, count > 1 else { return first ?? "" }
    return "\(dropLast().joined(separator: ", ")) \(conjunction) \(last)"
  }
}
