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

  /// Whether an installation of the network gets a badge of its own. Android shows one beside the common text only.
  package func showsRaisedBadge(on network: Network) -> Bool {
    guard raisesBadge, let notification else { return false }
    return network != .fcm || notification.title != nil || notification.body != nil
  }
}

extension Notification {
  /// A badge or a sound is shown beside a text only: alone they would be a message without anything in it.
  fileprivate var saysSomethingOnAndroid: Bool {
    title != nil || body != nil || contentAvailable || !data.isEmpty
  }
}
