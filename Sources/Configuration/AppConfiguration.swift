package import Model

/// One app and its accounts at the push networks.
package struct AppConfiguration: Sendable, Equatable {
  package var id: String
  package var apns: [PushEnvironment: APNsConfiguration]
  package var fcm: FCMConfiguration?
  package var jpush: JPushConfiguration?

  package init(
    id: String, apns: [PushEnvironment: APNsConfiguration] = [:], fcm: FCMConfiguration? = nil,
    jpush: JPushConfiguration? = nil
  ) {
    self.id = id
    self.apns = apns
    self.fcm = fcm
    self.jpush = jpush
  }
}
