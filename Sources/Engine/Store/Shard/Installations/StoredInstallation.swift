package import Model
internal import Redis

/// An installation and its generation, as its record holds them.
package struct StoredInstallation: Sendable, Equatable {
  package var installation: Installation
  /// Changes with every install of the token.
  package var generation: UInt64
  /// When another user had it last, in epoch milliseconds; nil when nobody else had it since it was created.
  package var movedAtMs: Int64?

  /// Nil when the record lacks what every record has.
  init?(app: String, token: DeviceToken, fields: [(String, String)]) {
    let values = Dictionary(fields, uniquingKeysWith: { $1 })
    guard let user = values["user"],
      let environment = values["environment"].flatMap({ PushEnvironment(rawValue: $0) }),
      let generation = values["generation"].flatMap({ UInt64($0) })
    else { return nil }
    var custom: [String: String] = [:]
    for (name, value) in fields where name.hasPrefix("custom.") {
      custom[String(name.dropFirst("custom.".count))] = value
    }
    self.generation = generation
    movedAtMs = values["moved_at"].flatMap { Int64($0) }.map { StoredNumber.instantMs($0) }
    installation = Installation(
      app: app, user: user, token: token, environment: environment, objectID: values["object_id"],
      device: Installation.Device(
        type: values["device_type"], appName: values["app_name"],
        appVersion: values["app_version"], osVersion: values["os_version"],
        sdkVersion: values["sdk_version"], timeZone: values["time_zone"],
        language: values["language"]),
      channels: values["channels"].map { $0.split(separator: "\n").map(String.init) } ?? [],
      custom: custom)
    installation.badge = values["badge"].flatMap { Int($0) }
    installation.createdAtMs =
      values["created_at"].flatMap { Int64($0) }.map { StoredNumber.instantMs($0) }
    installation.updatedAtMs =
      values["updated_at"].flatMap { Int64($0) }.map { StoredNumber.instantMs($0) }
    installation.kind = values["kind"].flatMap { TokenKind(rawValue: $0) } ?? .alert
  }

  /// The fields of a record that are not the store's own.
  static func fields(_ installation: Installation) -> [(String, String)] {
    let optional: [(String, String?)] = [
      ("device_type", installation.device.type), ("app_name", installation.device.appName),
      ("app_version", installation.device.appVersion),
      ("os_version", installation.device.osVersion),
      ("sdk_version", installation.device.sdkVersion), ("time_zone", installation.device.timeZone),
      ("language", installation.device.language), ("badge", installation.badge.map { String($0) }),
      (
        "channels",
        installation.channels.isEmpty && !installation.leavesChannels
          ? nil : installation.channels.joined(separator: "\n")
      ),
    ]
    return optional.compactMap { name, value in value.map { (name, $0) } }
      + installation.custom.sorted { $0.key < $1.key }.map { ("custom.\($0.key)", $0.value) }
  }
}
