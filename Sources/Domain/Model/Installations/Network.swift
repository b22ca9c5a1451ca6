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
}
