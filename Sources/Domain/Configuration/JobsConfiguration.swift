package import Model

/// The settings for how long jobs are kept, of all apps or of one.
package struct JobsConfiguration: Sendable, Equatable {
  /// How long the record of a job to many is kept after its end, and with it the job's id; also the record of a job that
  /// did not end well.
  package var retentionHours: Int
  /// How long the record of a job to few with an id of its own is kept; nil for a day, or `retentionHours` if that is less.
  package var namedRetentionHours: Int?
  /// How long the record of a job to few without an id is kept; nil for an hour.
  package var unnamedRetentionMinutes: Int?

  package init(
    retentionHours: Int = ConfigurationLimits.retentionHoursUsual, namedRetentionHours: Int? = nil,
    unnamedRetentionMinutes: Int? = nil
  ) {
    self.retentionHours = retentionHours
    self.namedRetentionHours = namedRetentionHours
    self.unnamedRetentionMinutes = unnamedRetentionMinutes
  }

  package var retention: JobRetention {
    let named =
      namedRetentionHours ?? min(retentionHours, ConfigurationLimits.namedRetentionHoursUsual)
    let unnamed = unnamedRetentionMinutes ?? ConfigurationLimits.unnamedRetentionMinutesUsual
    return JobRetention(
      manySeconds: retentionHours * 3_600, namedSeconds: named * 3_600,
      unnamedSeconds: unnamed * 60)
  }
}

extension JobsConfiguration {
  static let fields = ["retention_hours", "named_retention_hours", "unnamed_retention_minutes"]

  init(in root: ConfigurationSection) throws(ConfigurationError) {
    self = try Self.read(root, else: JobsConfiguration())
  }

  /// Reads what an app says for itself; what it leaves out is as for all apps. Nil when it says nothing.
  static func ofApp(
    in section: ConfigurationSection, else all: JobsConfiguration
  ) throws(ConfigurationError) -> JobsConfiguration? {
    let found = try read(section, else: all)
    return found == all ? nil : found
  }

  private static func read(
    _ root: ConfigurationSection, else usual: JobsConfiguration
  ) throws(ConfigurationError) -> JobsConfiguration {
    let section = try root.section("jobs", known: fields)
    return JobsConfiguration(
      retentionHours: try section.integer(
        "retention_hours", in: 1...ConfigurationLimits.retentionHoursMax,
        default: usual.retentionHours, zero: AppFieldRule.noRetention),
      namedRetentionHours: try section.optionalInteger(
        "named_retention_hours", in: 1...ConfigurationLimits.retentionHoursMax,
        zero: AppFieldRule.noNamedRetention) ?? usual.namedRetentionHours,
      unnamedRetentionMinutes: try section.optionalInteger(
        "unnamed_retention_minutes", in: 1...ConfigurationLimits.retentionHoursMax * 60,
        zero: AppFieldRule.noUnnamedRetention)
        ?? usual.unnamedRetentionMinutes)
  }
}
