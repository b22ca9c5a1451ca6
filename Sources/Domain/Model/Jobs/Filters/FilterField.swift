/// A field of an installation that a job's filter can ask about.
enum FilterField: Sendable, Hashable {
  case network, environment, deviceType, language, timeZone, appVersion, osVersion, sdkVersion
  /// One of the installation's `channels`.
  case channel
  /// A custom field of this name.
  case custom(String)

  /// The fields that every installation may have, in the order in which they are read from a filter.
  static let common: [FilterField] = [
    .network, .environment, .deviceType, .language, .timeZone, .appVersion, .osVersion,
    .sdkVersion, .channel,
  ]

  /// Its name in a filter; of a custom field, in `custom`.
  var name: String {
    switch self {
    case .network: "network"
    case .environment: "environment"
    case .deviceType: "device_type"
    case .language: "language"
    case .timeZone: "time_zone"
    case .appVersion: "app_version"
    case .osVersion: "os_version"
    case .sdkVersion: "sdk_version"
    case .channel: "channel"
    case .custom(let name): name
    }
  }

  /// Whether every binding says it by itself, so that no record need be read.
  var isOfBinding: Bool { self == .network || self == .environment }

  /// Its name in an installation's record.
  var recordName: String {
    switch self {
    case .channel: "channels"
    case .custom(let name): "custom.\(name)"
    default: name
    }
  }
}
