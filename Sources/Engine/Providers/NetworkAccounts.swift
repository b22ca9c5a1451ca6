internal import Model
internal import PushpoolConfiguration

// The registry of this layer: the settings of each network's accounts are read by a type of its own, which is named here. All
// else follows from what that makes of them.
extension AppNetworks {
  /// The settings of each account, in the order of the networks.
  var settings: [any AccountSettings] {
    let ofAPNs = PushEnvironment.allCases.compactMap { environment in
      apns[environment].map { APNsSettings(environment: environment, configuration: $0) }
    }
    let others: [(any AccountSettings)?] = [fcm, jpush]
    return ofAPNs + others.compactMap { $0 }
  }
}
