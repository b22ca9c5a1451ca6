/// Names of the contract that this version knows and does not do. A name leaves its list when it is decoded.
enum UnsupportedFields {
  static let job = ["filter", "deliver_at", "deliver_local"]
  static let audience = ["topic", "channel", "all"]

  static func refuse(_ names: [String], in reader: FieldReader) throws(InvalidField) {
    for name in names where reader.has(name) {
      throw reader.refused(name, "is not supported by this version: leave it out")
    }
  }

  /// `"badge": "+1"`, an increment for each installation.
  static func badgeIncrement(_ reader: FieldReader) throws(InvalidField) {
    guard case .string(let text)? = reader.object["badge"], text.hasPrefix("+") else { return }
    throw reader.refused(
      "badge", "an increment is not supported by this version: give the number to show")
  }
}
