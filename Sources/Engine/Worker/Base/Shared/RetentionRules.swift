internal import Model
internal import PushpoolConfiguration

/// How long the records of jobs are kept after their end, by the configuration.
struct RetentionRules: Sendable {
  /// Of apps that say nothing of their own.
  let usual: JobRetention
  /// Of those that do, which few are.
  private let ofApps: [String: JobRetention]

  init(usual: JobRetention, ofApps: [String: JobRetention] = [:]) {
    self.usual = usual
    self.ofApps = ofApps
  }

  /// - Parameter redisApps: the rules of apps of Redis, none of which the configuration has.
  init(_ configuration: Configuration, _ redisApps: [String: AppRules] = [:]) {
    self.init(
      usual: configuration.jobs.retention,
      ofApps: Dictionary(
        configuration.apps.compactMap { app in app.jobs.map { (app.id, $0.retention) } },
        uniquingKeysWith: { $1 }
      ).merging(
        redisApps.compactMapValues { $0.jobs.over(configuration.jobs)?.retention }
      ) { $1 })
  }

  /// The rule for an app, also for one that no configuration has.
  subscript(app: String) -> JobRetention {
    ofApps.isEmpty ? usual : ofApps[app] ?? usual
  }
}
