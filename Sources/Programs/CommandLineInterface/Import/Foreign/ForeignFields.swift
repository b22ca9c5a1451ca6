/// The names by which another service calls the fields of an installation. Of several names of one field the first that
/// is there counts: its API and its database call some differently.
struct ForeignFields {
  let objectID: [String]
  let createdAt: [String]
  let updatedAt: [String]
  let appName: [String]
  let sdkVersion: [String]
  let locale: [String]

  /// Parse Server: the class `_Installation`, by its REST API, its dashboard or mongoexport.
  static let parse = ForeignFields(
    objectID: ["objectId", "_id"], createdAt: ["createdAt", "_created_at"],
    updatedAt: ["updatedAt", "_updated_at"], appName: ["appName"], sdkVersion: ["parseVersion"],
    locale: ["localeIdentifier"])

  /// NIFCLOUD mobile backend: the class `installation`.
  static let ncmb = ForeignFields(
    objectID: ["objectId"], createdAt: ["createDate"], updatedAt: ["updateDate"],
    appName: ["applicationName"], sdkVersion: ["sdkVersion"], locale: [])

  static let deviceType = "deviceType"
  static let deviceToken = "deviceToken"
  static let pushType = "pushType"
  static let channels = "channels"
  static let badge = "badge"
  static let timeZone = "timeZone"
  static let appVersion = "appVersion"

  /// Fields that only the other service has a use for. They are left out without a word, as is every name with `_`
  /// before it.
  private static let internalNames: Set<String> = [
    "ACL", "acl", "className", "GCMSenderId", "deviceTokenLastModified",
  ]

  private let mapped: Set<String>

  private init(
    objectID: [String], createdAt: [String], updatedAt: [String], appName: [String],
    sdkVersion: [String], locale: [String]
  ) {
    self.objectID = objectID
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.appName = appName
    self.sdkVersion = sdkVersion
    self.locale = locale
    let own = objectID + createdAt + updatedAt + appName + sdkVersion + locale
    mapped = Set(own).union([
      Self.deviceType, Self.deviceToken, Self.pushType, Self.channels, Self.badge, Self.timeZone,
      Self.appVersion,
    ])
  }

  /// Whether a field stands for itself: neither mapped nor internal.
  func isCustom(_ name: String) -> Bool {
    !name.hasPrefix("_") && !Self.internalNames.contains(name) && !mapped.contains(name)
  }
}
