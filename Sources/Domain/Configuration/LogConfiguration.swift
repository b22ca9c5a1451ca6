/// The settings for what is logged, and how.
package struct LogConfiguration: Sendable, Equatable {
  package enum Level: String, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
  }

  package enum Format: String, Sendable, CaseIterable {
    /// Human on a terminal, JSON elsewhere.
    case auto
    case human, json
  }

  package var level: Level
  package var format: Format

  package init(level: Level = .info, format: Format = .auto) {
    self.level = level
    self.format = format
  }
}

extension LogConfiguration {
  init(in root: ConfigurationSection) throws(ConfigurationError) {
    let section = try root.section("log", known: ["level", "format"])
    self.init(
      level: try section.choice("level", default: LogConfiguration().level),
      format: try section.choice("format", default: LogConfiguration().format))
  }
}
