internal import Model
internal import PushpoolConfiguration

// The registry of this layer: the settings of each network's accounts are read by a type of its own, which is named here. All
// else follows from what that makes of them.
extension AppNetworks {
  /// The settings of each account, in the order of the networks.
  var settings: [any AccountSettings] { Network.allCases.flatMap(settings) }

  private func settings(at network: Network) -> [any AccountSettings] {
    switch network {
    case .apns:
      PushEnvironment.allCases.compactMap { environment in
        apns[environment].map { APNsSettings(environment: environment, configuration: $0) }
      }
    case .fcm: fcm.map { [$0] } ?? []
    case .jpush: jpush.map { [$0] } ?? []
    }
  }
}
