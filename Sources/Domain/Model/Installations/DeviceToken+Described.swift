extension DeviceToken {
  /// The digits of an APNs token that is written as iOS before 13 describes its bytes, `<740f4707 bebcf74f …>`. Apps have sent
  /// it so to their backends, and exports of Parse and others have it so.
  /// - Returns: nil for what is not between angle brackets. What is, is not checked.
  package static func digits(described text: String) -> String? {
    guard text.utf8.first == UInt8(ascii: "<"), text.utf8.last == UInt8(ascii: ">") else {
      return nil
    }
    return text.dropFirst().dropLast().filter { $0 != " " }
  }
}
