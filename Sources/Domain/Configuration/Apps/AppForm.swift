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
  }

  /// - Parameter reader: of the whole app.
  mutating func readNetworks(
    _ reader: FieldReader, by forms: inout AppFormReader
  ) throws(InvalidField) {
    apns = try forms.accounts(reader)
    fcm = try forms.account(reader)
    jpush = try forms.account(reader)
  }

  /// Its accounts, in the order of the networks.
  package var accounts: [AppFormAccount] {
    let byEnvironment = PushEnvironment.allCases.compactMap { environment in
      apns[environment].map { AppFormAccount($0, environment) }
    }
    return byEnvironment
      + [fcm.map { AppFormAccount($0) }, jpush.map { AppFormAccount($0) }].compactMap { $0 }
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
  package static let all =
    PushEnvironment.allCases.flatMap { AppForm.APNs.secretNames($0) } + AppForm.FCM.secretNames()
    + AppForm.JPush.secretNames()
}
