/// The settings for how long jobs are kept.
package struct JobsConfiguration: Sendable, Equatable {
  /// How long the record of a job is kept after its end, and with it the job's id.
  package var retentionHours: Int

  package init(retentionHours: Int = ConfigurationLimits.retentionHoursUsual) {
    self.retentionHours = retentionHours
  }
}
