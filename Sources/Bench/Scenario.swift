import ArgumentParser
import Model

/// What is measured.
package enum Scenario: String, Sendable, CaseIterable {
  /// A campaign to APNs as fast as it goes.
  case apns
  /// The same to FCM.
  case fcm
  /// How much of what the streams allow is used when each answer takes 100 ms.
  case answerTime = "answer-time"
  /// From enqueueing to the network, one user at a time.
  case latency

  var network: Network { self == .fcm ? .fcm : .apns }

  /// CPU per push in h2load's per request: what has to hold, then what is aimed for.
  var ratioMax: (required: Double?, goal: Double) { self == .fcm ? (nil, 2.0) : (3.0, 1.5) }
}

extension Scenario: ExpressibleByArgument {}
