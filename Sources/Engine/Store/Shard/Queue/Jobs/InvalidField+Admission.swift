package import Model

// What is wrong with a job that only Redis knows: workers refuse it with these, and producers may ask before.
extension InvalidField {
  /// Returns the complaint about a job whose id another one has, with other content (`AdmissionAnswer.conflict`).
  package static func takenName(_ id: String) -> InvalidField {
    InvalidField(
      pointer: "/id",
      message: "another job of this app has the id \"\(id)\" and other content; choose a new id")
  }

  /// - Parameter answer: `keyMissing`, `keyType`, `keyEncoding` or `keyUnreadable`.
  package static func unusable(usersKey key: String, _ answer: AdmissionAnswer) -> InvalidField {
    let name = named(key)
    let message =
      switch answer {
      case .keyMissing: missing(key)
      case .keyType: "\(name) is of another type: it must be a SET, ZSET or LIST of user ids"
      case .keyEncoding:
        "\(name) is a large set in a compact encoding, which can only be read as a whole: lower "
          + "set-max-intset-entries, set-max-listpack-entries and zset-max-listpack-entries in Redis to "
          + "their defaults and fill it anew"
      default: unreadable(key)
      }
    return InvalidField(pointer: "/audience/users_key", message: message)
  }

  /// - Parameter answer: `variablesMissing`, `variablesType` or `variablesUnreadable`.
  package static func unusable(
    variablesKey key: String, _ answer: AdmissionAnswer
  ) -> InvalidField {
    let message =
      switch answer {
      case .variablesMissing: missing(key)
      case .variablesType:
        "\(named(key)) is of another type: it must be a HASH, user → JSON object"
      default: unreadable(key)
      }
    return InvalidField(pointer: "/variables_key", message: message)
  }

  private static func named(_ key: String) -> String {
    "the key \"\(FieldPointer.printable(key))\""
  }

  private static func missing(_ key: String) -> String {
    "\(named(key)) does not exist in this database: fill it before the job is enqueued"
  }

  private static func unreadable(_ key: String) -> String {
    "\(named(key)) may not be read by the workers: check the ACL, and in a cluster give it the hash "
      + "tag of redis.prefix"
  }
}
