package import Model

/// An app at JPush.
package struct JPushConfiguration: Sendable, Equatable {
  package var appKey: String
  package var masterSecretFile: String
  package var access: Access

  package init(appKey: String, masterSecretFile: String, access: Access = Access()) {
    self.appKey = appKey
    self.masterSecretFile = masterSecretFile
    self.access = access
  }
}

extension AppConfiguration {
  /// Its account at JPush.
  package var jpush: JPushConfiguration? {
    get { networks.jpush }
    _modify { yield &networks.jpush }
  }
}

extension JPushConfiguration: NetworkConfiguration {
  package static let network = Network.jpush
  private static let fields =
    ["app_key", "master_secret_file"] + ConfigurationSection.accessFields

  init?(in parent: ConfigurationSection) throws(ConfigurationError) {
    let section = try parent.section(Self.network.rawValue, known: Self.fields)
    guard section.isPresent(fields: Self.fields) else { return nil }
    self.init(
      appKey: try section.checked(
        try section.required("app_key", "the AppKey of the JPush console")
      ) { (text) throws(InvalidField) in try AppFieldRule.checkAppKey(text) },
      masterSecretFile: try section.requiredFile(
        "master_secret_file", "a file with the master secret of the JPush console"),
      access: try section.access())
  }
}
