extension JobContent {
  /// Whether it has anything to say on a network: the common part, or that network's own.
  package func isFor(_ network: Network) -> Bool {
    if event != nil { return true }
    return switch network {
    case .apns: notification != nil || apns?.payload != nil
    case .fcm: notification?.saysSomethingOnAndroid == true || fcm != nil
    case .jpush: notification != nil || jpush != nil
    }
  }
}

extension Notification {
  /// A badge or a sound is shown beside a text only: alone they would be a message without anything in it.
  fileprivate var saysSomethingOnAndroid: Bool {
    title != nil || body != nil || contentAvailable || !data.isEmpty
  }
}
