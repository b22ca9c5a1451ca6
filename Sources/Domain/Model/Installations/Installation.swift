/// One device token bound to one user of an app.
package struct Installation: Sendable, Equatable {
  /// The device, the app on it and the user's settings, as the app tells of them.
  package struct Device: Sendable, Equatable {
    package var type: String?
    package var appName: String?
    package var appVersion: String?
    package var osVersion: String?
    package var sdkVersion: String?
    /// A name of the IANA time zone database.
    package var timeZone: String?
    /// A BCP 47 tag.
    package var language: String?

    package init(
      type: String? = nil, appName: String? = nil, appVersion: String? = nil,
      osVersion: String? = nil, sdkVersion: String? = nil, timeZone: String? = nil,
      language: String? = nil
    ) {
      self.type = type
      self.appName = appName
      self.appVersion = appVersion
      self.osVersion = osVersion
      self.sdkVersion = sdkVersion
      self.timeZone = timeZone
      self.language = language
    }
  }

  package var app: String
  package var user: String
  package var token: DeviceToken
  package var environment: PushEnvironment
  /// The kind of push that the token is for; `alert` on networks other than APNs.
  package var kind = TokenKind.alert
  /// Stable and unique, survives a re-install; nil lets the store give one.
  package var objectID: String?
  package var device: Device
  package var badge: Int?
  package var channels: [String]
  /// Whether it leaves the channels that it was in: an empty list was given. Without channels it stays in them.
  package var leavesChannels = false
  /// Epoch milliseconds, as the next one.
  package var createdAtMs: Int64?
  package var updatedAtMs: Int64?
  /// Names are ASCII letters, digits and `. _ -`.
  package var custom: [String: String]

  package init(
    app: String, user: String, token: DeviceToken, environment: PushEnvironment = .production,
    objectID: String? = nil, device: Device = Device(), channels: [String] = [],
    custom: [String: String] = [:]
  ) {
    self.app = app
    self.user = user
    self.token = token
    self.environment = environment
    self.objectID = objectID
    self.device = device
    self.channels = channels
    self.custom = custom
  }
}
