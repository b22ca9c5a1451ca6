/// Names that are refused with a word of their own, rather than as unknown ones. A name leaves its list when it is decoded.
enum RefusedFields {
  static let job: KeyValuePairs = [
    "priority":
      "is not part of the job: add the job to the stream of its priority, or give --priority"
  ]

  static func refuse(
    _ fields: KeyValuePairs<String, String>, in value: JSONValue
  ) throws(InvalidField) {
    guard case .object(let object) = value else { return }
    for (name, message) in fields where object[name] != nil {
      throw InvalidField(pointer: FieldPointer.child(name, of: ""), message: message)
    }
  }
}
