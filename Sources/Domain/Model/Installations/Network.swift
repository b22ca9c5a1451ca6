/// A push network.
package enum Network: String, Sendable, Hashable, CaseIterable {
  case apns, fcm, jpush

  /// Its place in tables by network: below `allCases.count`.
  package var index: Int {
    switch self {
    case .apns: 0
    case .fcm: 1
    case .jpush: 2
    }
  }

  /// Not by its name: that takes ten times as long, several times a job.
  package func hash(into hasher: inout Hasher) { hasher.combine(index) }
}
