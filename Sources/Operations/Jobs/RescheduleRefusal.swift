internal import Model
internal import Store

/// Why a job does not start at another time.
package enum RescheduleRefusal: Sendable, Equatable {
  case waiting, started, ended, local, far, expired

  /// Nil when the job was moved.
  init?(_ answer: RescheduleAnswer) {
    switch answer {
    case .moved: return nil
    case .waiting: self = .waiting
    case .started: self = .started
    case .ended: self = .ended
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
    case .ended: "it has ended, and cannot start any more: enqueue it under another id"
    case .local:
      "it starts by the clocks of its receivers (deliver_local): cancel it, and enqueue it under another id"
    case .far:
      "a job starts at most \(Limits.deliverAheadMsMax / 86_400_000) days ahead"
    case .expired:
      "it would expire before it starts: cancel it, and enqueue it under another id"
    }
  }
}
