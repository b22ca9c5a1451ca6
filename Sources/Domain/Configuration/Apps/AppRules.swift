/// The rules that an app is sent by, beside those of its networks.
package struct AppRules: Sendable, Equatable {
  /// How many pushes of it the fleet together begins in a second; nil for any number.
  package var pushesPerSecond: Int?
  /// How many jobs that tell of events in one bucket the fleet starts in a minute; 0 for any number.
  package var eventsPerMinute = ConfigurationLimits.eventsPerMinuteUsual
  /// Where the app is at home: what local time is for installations without a time zone; nil for UTC.
  package var timeZone: String?
  /// How long its jobs are kept.
  package var jobs = Jobs()

  package init() {}

  /// The settings for how long jobs are kept that an app has of its own; nil for those of all apps.
  package struct Jobs: Sendable, Equatable {
    package var retentionHours: Int?
    package var namedRetentionHours: Int?
    package var unnamedRetentionMinutes: Int?

    package init() {}

    /// The settings for its jobs; nil when it has none of its own.
    package func over(_ all: JobsConfiguration) -> JobsConfiguration? {
      guard self != Jobs() else { return nil }
      return JobsConfiguration(
        retentionHours: retentionHours ?? all.retentionHours,
        namedRetentionHours: namedRetentionHours ?? all.namedRetentionHours,
        unnamedRetentionMinutes: unnamedRetentionMinutes ?? all.unnamedRetentionMinutes)
    }
  }
}
