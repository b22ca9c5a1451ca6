import Model

/// The `error` object of an answer of JPush's Push API v3.
struct JPushError {
  /// JPush's codes have four digits; what stands before it may have others in the same place.
  private static let numbers = Int64(1_000)...9_999
  /// JPush's registration IDs are as short as eleven letters and digits, and may be shorter.
  private static let shownRunBytesMax = 5

  private let number: Int64
  private let message: String

  /// Nil for one that is not documented.
  var code: JPushErrorCode? { JPushErrorCode(rawValue: Int(number)) }

  /// For a code that is not documented.
  var foreignReason: String {
    "\(number) " + ForeignText.printable(message, runBytesMax: Self.shownRunBytesMax)
  }

  /// Whether it blames a registration ID, as "The registration_id 140fe1da9e2 is invalid!" does.
  var blamesRegistrationID: Bool {
    message.contains("registration_id") && message.contains("invalid")
  }

  /// The registration ID that it blames, where it stands in that place.
  var blamedRegistrationID: String? {
    guard blamesRegistrationID else { return nil }
    let words = message.split(separator: " ")
    guard let index = words.firstIndex(of: "registration_id"), index + 1 < words.count else {
      return nil
    }
    return String(words[index + 1])
  }

  /// Nil when the answer is not in JPush's form.
  init?(_ answer: ProviderAnswer) {
    guard let error = answer.object?["error"]?.objectValue, let number = error["code"]?.int64Value,
      Self.numbers.contains(number), let message = error["message"]?.stringValue
    else { return nil }
    self.number = number
    self.message = message
  }
}
