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
