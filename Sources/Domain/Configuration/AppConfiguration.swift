package import Model

/// One app and its accounts at the push networks.
package struct AppConfiguration: Sendable, Equatable {
  package var id: String
  package var apns: [PushEnvironment: APNsConfiguration]
  package var fcm: FCMConfiguration?
  package var jpush: JPushConfiguration?
  /// How many pushes of it the fleet together begins in a second; nil for any number.
  package var pushesPerSecond: Int?
  /// How many jobs that tell of events in one bucket the fleet starts in a minute; 0 for any number.
  package var eventsPerMinute: Int
  /// Where the app is at home: what local time is for installations without a time zone; nil for UTC.
  package var timeZone: String?

  package init(
    id: String, apns: [PushEnvironment: APNsConfiguration] = [:], fcm: FCMConfiguration? = nil,
    jpush: JPushConfiguration? = nil, pushesPerSecond: Int? = nil,
    eventsPerMinute: Int = ConfigurationLimits.eventsPerMinuteUsual, timeZone: String? = nil
  ) {
    self.id = id
    self.apns = apns
    self.fcm = fcm
    self.jpush = jpush
    self.pushesPerSecond = pushesPerSecond
    self.eventsPerMinute = eventsPerMinute
    self.timeZone = timeZone
  }
}
