internal import Configuration
internal import Providers

extension WorkerSnapshot {
  /// The snapshot of a configuration.
  /// - Parameter apps: its apps, as far as they can be used.
  convenience init(_ configuration: Configuration, _ apps: ConfiguredApps) {
    self.init(
      directory: apps.directory, leftOut: apps.leftOut,
      routes: apps.directory.routes(
        of: configuration.apps.map(\.id), leftOut: Set(apps.leftOut.map(\.id))),
      rules: JobRules(configuration))
  }
}

extension JobRules {
  init(_ configuration: Configuration) {
    self.init(
      eventsPerMinute: Dictionary(
        configuration.apps.map { ($0.id, $0.eventsPerMinute) }, uniquingKeysWith: { $1 }),
      timeZones: Dictionary(
        configuration.apps.compactMap { app in app.timeZone.map { (app.id, $0) } },
        uniquingKeysWith: { $1 }),
      retention: RetentionRules(configuration),
      unroutedMs: UInt64(configuration.worker.unroutedSeconds) * 1_000)
  }
}
