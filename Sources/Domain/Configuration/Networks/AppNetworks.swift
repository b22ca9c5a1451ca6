package import Model

/// An app's accounts at the push networks.
///
/// The registry of this layer: the section of each network is read by a type of its own, which is named here.
package struct AppNetworks: Sendable, Equatable {
  package var apns: [PushEnvironment: APNsConfiguration]
  package var fcm: FCMConfiguration?
  package var jpush: JPushConfiguration?

  package init(
    apns: [PushEnvironment: APNsConfiguration] = [:], fcm: FCMConfiguration? = nil,
    jpush: JPushConfiguration? = nil
  ) {
    self.apns = apns
    self.fcm = fcm
    self.jpush = jpush
  }

  /// - Parameter section: the app's.
  init(in section: ConfigurationSection) throws(ConfigurationError) {
    apns = try APNsConfiguration.accounts(in: section)
    fcm = try FCMConfiguration(in: section)
    jpush = try JPushConfiguration(in: section)
  }

  /// The accounts that there are, in the order of the networks.
  package var accounts: [NetworkAccount] { Network.allCases.flatMap(accounts) }

  private func accounts(at network: Network) -> [NetworkAccount] {
    switch network {
    case .apns:
      PushEnvironment.allCases.compactMap { environment in
        apns[environment].map { NetworkAccount($0, environment) }
      }
    case .fcm: fcm.map { [NetworkAccount($0)] } ?? []
    case .jpush: jpush.map { [NetworkAccount($0)] } ?? []
    }
  }
}

/// The settings of an app for one network.
package protocol NetworkConfiguration: Sendable {
  static var network: Network { get }
  var access: Access { get }
  /// The messages a minute that the network allows the account; nil where the configuration does not say.
  var quotaPerMinute: Int? { get }
}

extension NetworkConfiguration {
  package var quotaPerMinute: Int? { nil }
}

/// An account of an app at one network.
package struct NetworkAccount: Sendable {
  package let network: Network
  /// The environment that it is for; nil for both.
  package let environment: PushEnvironment?
  package let access: Access
  /// The messages a minute that the network allows it; nil where the configuration does not say.
  package let quotaPerMinute: Int?

  init(_ configuration: some NetworkConfiguration, _ environment: PushEnvironment? = nil) {
    network = type(of: configuration).network
    self.environment = environment
    access = configuration.access
    quotaPerMinute = configuration.quotaPerMinute
  }
}
