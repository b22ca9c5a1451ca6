package import Model

/// An app as a record in Redis describes it: its accounts at the push networks and its rules, without its secrets.
///
/// The registry of this kind of description: the form of each network's accounts is a type of its own, which is named here.
package struct AppForm: Sendable, Equatable {
  package var apns: [PushEnvironment: APNs] = [:]
  package var fcm: FCM?
  package var jpush: JPush?
  package var rules = AppRules()

  package init() {}

  /// How a network is reached, where that is other than usual.
  package struct Access: Sendable, Equatable {
    package var endpoint: ServiceURL?
    /// Certificates of authorities to trust beside the system's, in PEM; nil for none.
    package var authorities: String?
    package var proxy: ProxyURL?
    /// The user at the proxy, whose password is a secret; nil for none.
    package var proxyUser: String?

    package init() {}

    /// The places that a secret passes on its way, and whom it is trusted to there.
    var destinations: [String?] {
      [endpoint?.description, authorities, proxy?.description, proxyUser]
    }
  }

  /// - Parameter reader: of the whole app.
  mutating func readNetworks(
    _ reader: FieldReader, by forms: inout AppFormReader
  ) throws(InvalidField) {
    for network in Network.allCases {
      switch network {
      case .apns: apns = try forms.accounts(reader)
      case .fcm: fcm = try forms.account(reader)
      case .jpush: jpush = try forms.account(reader)
      }
    }
  }

  /// The accounts of the app, in the order of the networks.
  package var accounts: [AppFormAccount] { Network.allCases.flatMap(accounts) }

  private func accounts(at network: Network) -> [AppFormAccount] {
    switch network {
    case .apns:
      PushEnvironment.allCases.compactMap { environment in
        apns[environment].map { AppFormAccount($0, environment) }
      }
    case .fcm: fcm.map { [AppFormAccount($0)] } ?? []
    case .jpush: jpush.map { [AppFormAccount($0)] } ?? []
    }
  }

  /// The secrets that it cannot do without.
  package var requiredSecrets: [AppSecretName] { accounts.flatMap(\.requiredSecrets) }

  /// Whether a secret goes to the same places as with another form.
  package func sends(_ secret: AppSecretName, as other: AppForm) -> Bool {
    accounts.first { $0.has(secret) }?.destinations
      == other.accounts.first { $0.has(secret) }?.destinations
  }
}

extension AppSecretName {
  /// All that an app may have.
  package static let all = Network.allCases.flatMap(all)

  private static func all(at network: Network) -> [AppSecretName] {
    switch network {
    case .apns: PushEnvironment.allCases.flatMap { AppForm.APNs.secretNames($0) }
    case .fcm: AppForm.FCM.secretNames()
    case .jpush: AppForm.JPush.secretNames()
    }
  }
}
