internal import HTTP2
internal import Logging
internal import Model
internal import Providers

/// The log of one destination: when its network takes no pushes any more, and when it does again.
struct DestinationJournal {
  let name: DestinationName
  private let provider: any PushProvider
  private let reasons: ReasonLog
  private let log: Logger

  init(of entry: ProviderDirectory.Entry, reasons: ReasonLog, log: Logger) {
    name = DestinationName(entry)
    provider = entry.provider
    self.reasons = reasons
    self.log = log
  }

  /// Notes that a connection was bad, and is replaced.
  func noteReplaced(_ trouble: ConnectionTrouble) {
    reasons.note(
      "\(name.app): \(name.network) (\(name.environment)): \(trouble.reason): that connection is replaced",
      metadata: ["requests": "\(trouble.requests)"])
  }

  func noteEnd(_ end: ConnectionEnd) {
    guard end != .closed else { return }
    log.info(
      "connection ended",
      metadata: ["app": "\(name.app)", "network": "\(name.network)", "reason": "\(end.logText)"])
  }

  /// The network refuses its pushes because of how the app is set up.
  func noteHeld(because reason: String) {
    let sentence =
      "\(name.app): \(name.network) (\(name.environment)) refuses every push because of how the app is set up: its pushes "
      + "wait; \(provider.remedy(for: reason))"
    log.error("\(sentence)", metadata: metadata(because: reason))
  }

  /// The network refuses the pushes of one job because of how the app is set up.
  func noteHeld(job: String, because reason: String) {
    let sentence =
      "\(name.app): \(name.network) (\(name.environment)) refuses every push of a job because of how the app is set up, though "
      + "it has taken others: the job waits; \(provider.remedy(for: reason))"
    log.error(
      "\(sentence)", metadata: metadata(because: reason).merging(["job": "\(job)"]) { $1 })
  }

  /// The network does not refuse them any more.
  func noteReleased() {
    log.notice(
      "\(name.app): \(name.network) (\(name.environment)) accepts pushes of the app again",
      metadata: metadata)
  }

  /// Notes that the breaker has opened, and why.
  func noteOpened(because reason: String) {
    log.error(
      "\(name.app): \(name.network) (\(name.environment)) is in trouble: its pushes wait",
      metadata: metadata(because: reason))
  }

  /// Notes that the breaker is closed again.
  func noteClosed(openMs: UInt64) {
    log.notice(
      "\(name.app): \(name.network) (\(name.environment)) is sent to again",
      metadata: metadata.merging(["open_ms": "\(openMs)"]) { $1 })
  }

  private var metadata: Logger.Metadata {
    [
      "app": "\(name.app)", "network": "\(name.network)", "environment": "\(name.environment)",
    ]
  }

  private func metadata(because reason: String) -> Logger.Metadata {
    metadata.merging(["reason": "\(reason)"]) { $1 }
  }
}

/// A destination as alarms and the log name it.
struct DestinationName {
  let app: String
  let network: String
  /// The only environment; `all` where one provider sends to both.
  let environment: String

  init(_ entry: ProviderDirectory.Entry) {
    app = entry.app
    network = entry.provider.network.rawValue
    environment = entry.environmentName
  }
}
