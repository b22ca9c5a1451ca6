package import Model
internal import PushpoolConfiguration

/// An app at JPush.
package struct JPushMaterial: Sendable {
  package var appKey: String
  package var masterSecret: MaterialBytes
  package var access: AccessMaterial

  package init(
    appKey: String, masterSecret: MaterialBytes, access: AccessMaterial = AccessMaterial()
  ) {
    self.appKey = appKey
    self.masterSecret = masterSecret
    self.access = access
  }
}

extension JPushConfiguration: AccountSettings {
  func material(from files: AppFiles) -> (any NetworkMaterial)? {
    let access = files.access(access, JPushMaterial.part)
    let secret = files.secret(masterSecretFile, "\(JPushMaterial.part).master_secret_file")
    guard let access, let secret else { return nil }
    return JPushMaterial(appKey: appKey, masterSecret: secret, access: access)
  }
}

extension AppForm.JPush: AccountForm {
  func material(with secrets: GivenSecrets) -> (any NetworkMaterial)? {
    secrets[.jpush(.masterSecret)].map {
      JPushMaterial(
        appKey: appKey, masterSecret: $0,
        access: secrets.access(access, password: .jpush(.proxyPassword)))
    }
  }
}

extension JPushMaterial: NetworkMaterial {
  fileprivate static let part = Network.jpush.rawValue

  /// One of each, since a request names the environment; an app key is for both.
  package func entries(
    of app: String, _ limits: [RateLimit], by builder: inout ProviderBuilder
  ) -> [Result<ProviderDirectory.Entry, MaterialProblem>] {
    PushEnvironment.allCases.map { entry(of: app, in: $0, limits, by: &builder) }
  }

  private func entry(
    of app: String, in environment: PushEnvironment, _ limits: [RateLimit],
    by builder: inout ProviderBuilder
  ) -> Result<ProviderDirectory.Entry, MaterialProblem> {
    let name = MaterialDigest([.init("jpush secret"), .init(appKey), .init(masterSecret)])
    let origin = EntryOrigin(
      app: app, environments: [environment], limits: limits,
      part: "\(Self.part).\(environment.rawValue)",
      parts: [.init(appKey), .init(masterSecret)] + access.parts, access: access, shared: [name])
    return builder.entry(of: origin) { (builder) throws(MaterialProblem) in
      JPushProvider(
        appKey: appKey, environment: environment,
        destination: try builder.destination(
          access, ServiceAddress(host: "api.jpush.cn"), nil, startsWithOneStream: false,
          acceptsHTTP1: true, Self.part),
        credentials: builder.shared(name) { builder in
          JPushCredentialSource(
            appKey: appKey, secret: Secret(String(decoding: masterSecret.bytes, as: UTF8.self)),
            place: masterSecret.place, clock: builder.clock)
        })
    }
  }
}
