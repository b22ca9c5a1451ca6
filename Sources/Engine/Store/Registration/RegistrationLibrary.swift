/// The functions that any Redis client registers devices and submits jobs with. Their names never change, so a server has one such
/// library for all versions of the program and all prefixes: that of the newest version that has run there.
struct RegistrationLibrary: Sendable {
  /// The beginning of the names of all versions' libraries. It is not that of the versions' own libraries. So none of
  /// them takes this one for a library that nobody uses, and deletes it.
  static let namePrefix = "pushpoolregistration_"

  /// To be raised with every change of the source: of two libraries the higher one stays.
  static let currentNumber = 17
  /// The digest of the source with this number. A test compares it, so that no change of what the functions do is
  /// without a number of its own.
  static let currentDigest = "34b6df4415152eaa"

  static let current = RegistrationLibrary(number: currentNumber)

  let number: Int

  var name: String { "\(Self.namePrefix)\(number)" }
  var source: String { "#!lua name=\(name)\n\(Self.body)" }

  /// The number in a library's name; nil when it is none of these.
  static func number(in name: String) -> Int? {
    guard name.hasPrefix(namePrefix) else { return nil }
    return Int(name.dropFirst(namePrefix.count))
  }

  private static let body =
    String(decoding: PackageResources.keys_lua + PackageResources.numbers_lua, as: UTF8.self)
    + deeds

  /// The source without the spelling of keys: further keys, of which these functions use none, change nothing. A file
  /// sees the tables of those before it.
  private static let deeds =
    RegistrationRules.lua
    + String(
      decoding: PackageResources.index_lua + PackageResources.bindings_lua
        + PackageResources.json_lua
        + PackageResources.nearest_lua + PackageResources.fields_lua + PackageResources.guard_lua
        + PackageResources.registration_lua + PackageResources.submission_lua, as: UTF8.self)

  /// The start of the SHA-256 of what they do.
  static var digest: String { ContentDigest.hex(Array(deeds.utf8), count: 8) }
}
