internal import Logging
internal import Model
internal import Providers

/// Watches until when the certificates hold that apps show their networks, used or not; loop-bound.
final class CertificateWatch {
  private struct Shown {
    let app: String
    let network: String
    let environment: String
    let expiry: CertificateExpiry
  }

  /// The soonest to expire first.
  private var shown: [Shown]
  private let clock: FleetClock
  private let log: Logger
  /// When the log was told last; nil at the start.
  private var loggedMs: Int64?

  init(directory: ProviderDirectory, clock: FleetClock, log: Logger) {
    shown = Self.shown(by: directory)
    self.clock = clock
    self.log = log
  }

  /// Watches those of another directory from now on.
  func use(_ directory: ProviderDirectory) { shown = Self.shown(by: directory) }

  private static func shown(by directory: ProviderDirectory) -> [Shown] {
    directory.entries.compactMap { entry in
      entry.provider.credentials.certificate.map {
        Shown(
          app: entry.app, network: entry.provider.network.rawValue,
          environment: entry.environmentName, expiry: $0)
      }
    }.sorted { $0.expiry.expiresAtMs < $1.expiry.expiresAtMs }
  }

  /// The alarms while a certificate has expired or soon will.
  var alarmConditions: [AlarmCondition] {
    due(clock.nowMs).map { shown, sentence in
      AlarmCondition(
        field: AlarmKind.certificate.field(shown.app, shown.network, shown.environment),
        sentence: "\(shown.app): \(sentence)")
    }
  }

  /// Logs those at the start, and once a day.
  func report() {
    let nowMs = clock.nowMs
    if let loggedMs, abs(nowMs - loggedMs) < WorkerLimits.certificateLogMs { return }
    loggedMs = nowMs
    for (shown, sentence) in due(nowMs) {
      log.log(
        level: shown.expiry.isPast(nowMs: nowMs) ? .error : .warning,
        "\(shown.app): \(sentence)",
        metadata: [
          "app": "\(shown.app)", "network": "\(shown.network)",
          "environment": "\(shown.environment)",
        ])
    }
  }

  private func due(_ nowMs: Int64) -> [(Shown, String)] {
    shown.prefix(WorkerLimits.certificateAlarmsMax).compactMap { shown in
      shown.expiry.sentence(nowMs: nowMs).map { (shown, $0) }
    }
  }
}
