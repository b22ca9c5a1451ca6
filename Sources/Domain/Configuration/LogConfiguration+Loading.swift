extension LogConfiguration {
  init(in root: ConfigurationSection) throws(ConfigurationError) {
    let section = try root.section("log", known: ["level", "format"])
    self.init(
      level: try section.choice("level", default: LogConfiguration().level),
      format: try section.choice("format", default: LogConfiguration().format))
  }
}
