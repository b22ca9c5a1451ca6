/// The settings for how long jobs are kept.
package struct JobsConfiguration: Sendable, Equatable {
  /// How long the record of a job is kept after its end, and with it the job's id.
  package var retentionHours: Int

  package init(retentionHours: Int = ConfigurationLimits.retentionHoursUsual) {
    self.retentionHours = retentionHours
  }
}

extension JobsConfiguration {
  init(in root: ConfigurationSection) throws(ConfigurationError) {
    let section = try root.section("jobs", known: ["retention_hours"])
    self.init(
      retentionHours: try section.integer(
        "retention_hours", in: 1...ConfigurationLimits.retentionHoursMax,
        default: JobsConfiguration().retentionHours,
        zero: "a job that is enqueued again would be sent again; the default is 168"))
  }
}
