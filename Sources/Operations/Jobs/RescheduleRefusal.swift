internal import Model
internal import Store

/// Why a job that goes on does not start at another time.
package enum RescheduleRefusal: Sendable, Equatable {
  case waiting, started, local, far, expired

  /// Nil when the job was moved, or had ended.
  init?(_ answer: RescheduleAnswer) {
    switch answer {
    case .moved, .ended: return nil
    case .waiting: self = .waiting
    case .started: self = .started
    case .local: self = .local
    case .far: self = .far
    case .expired: self = .expired
    }
  }

  /// Whether another instant would do.
  package var isOfInstant: Bool { self == .far || self == .expired }

  /// The reason, and what to do, as the end of a sentence about the job.
  package var reason: String {
    switch self {
    case .waiting:
      "no worker has taken it in yet: do this again when one has, or cancel it, and enqueue it under another id"
    case .started:
      "it has started: pause it, or cancel what is left of it"
    case .local:
      "it starts by the clocks of its receivers (deliver_local): cancel it, and enqueue it under another id"
    case .far:
      "a job starts at most \(Limits.deliverAheadMsMax / 86_400_000) days ahead"
    case .expired:
      "its expires_at would not be later than its start: cancel it, and enqueue it under another id"
    }
  }
}
