internal import Model
internal import PushpoolConfiguration

// The registry of this layer: the settings of each network's accounts, and their forms in apps of Redis, are read by types of
// its own, which are named here. All else follows from what these make of them.
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

extension AppForm {
  /// The form of each account, in the order of the networks.
  var accountForms: [any AccountForm] { Network.allCases.flatMap(accountForms) }

  private func accountForms(at network: Network) -> [any AccountForm] {
    switch network {
    case .apns:
      PushEnvironment.allCases.compactMap { environment in
        apns[environment].map { APNsForm(environment: environment, form: $0) }
      }
    case .fcm: fcm.map { [$0] } ?? []
    case .jpush: jpush.map { [$0] } ?? []
    }
  }
}
