internal import Model

extension JobContent {
  /// Whether it has anything to say on a network: the common part, or that network's own.
  func isFor(_ network: Network) -> Bool {
    if notification != nil { return true }
    switch network {
    case .apns: return apns?.payload != nil
    case .fcm: return fcm != nil
    case .jpush: return jpush != nil
    }
  }
}
