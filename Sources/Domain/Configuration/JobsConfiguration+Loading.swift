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
