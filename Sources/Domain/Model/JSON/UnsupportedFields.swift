/// Names of the contract that this version knows and does not do. A name leaves its list when it is decoded.
enum UnsupportedFields {
  static let job = ["deliver_local"]

  static func refuse(_ names: [String], in reader: FieldReader) throws(InvalidField) {
    for name in names where reader.has(name) {
      throw reader.refused(name, "is not supported by this version: leave it out")
    }
  }
}
