package import Model
internal import PushpoolConfiguration
internal import Reactor

/// An app at FCM.
package struct FCMMaterial: Sendable {
  /// The JSON of a service account.
  package var account: MaterialBytes
  /// Where tokens are exchanged in place of the account's `token_uri`.
  package var tokenEndpoint: String?
  /// The quota of the project.
  package var messagesPerMinute: Int
  package var access: AccessMaterial

  package init(
    account: MaterialBytes, tokenEndpoint: String? = nil, messagesPerMinute: Int,
    access: AccessMaterial = AccessMaterial()
  ) {
    self.account = account
    self.tokenEndpoint = tokenEndpoint
    self.messagesPerMinute = messagesPerMinute
    self.access = access
  }
}

extension FCMConfiguration: AccountSettings {
  func material(from files: AppFiles) -> (any NetworkMaterial)? {
    let access = files.access(access, FCMMaterial.part)
    let account = files.file(serviceAccountFile, "\(FCMMaterial.part).service_account_file")
    guard let access, let account else { return nil }
    return FCMMaterial(
      account: account, tokenEndpoint: tokenEndpoint?.description,
      messagesPerMinute: messagesPerMinute, access: access)
  }
}

extension AppForm.FCM: AccountForm {
  func material(with secrets: GivenSecrets) -> (any NetworkMaterial)? {
    secrets[.fcm(.serviceAccount)].map {
      FCMMaterial(
        account: $0, tokenEndpoint: tokenEndpoint?.description,
        messagesPerMinute: messagesPerMinute,
        access: secrets.access(access, password: .fcm(.proxyPassword)))
    }
  }
}

extension FCMMaterial: NetworkMaterial {
  fileprivate static let part = Network.fcm.rawValue

  /// One for both environments.
  package func entries(
    of app: String, _ limits: [RateLimit], by builder: inout ProviderBuilder
  ) -> [Result<ProviderDirectory.Entry, MaterialProblem>] {
    do throws(MaterialProblem) {
      let known = try knownAccount(by: &builder)
      let quota = try quota(of: known, by: &builder)
      let origin = EntryOrigin(
        app: app, environments: PushEnvironment.all, limits: limits + [quota], part: Self.part,
        parts: [.init(account), .init(tokenEndpoint)] + access.parts, access: access,
        shared: [accountName, tokenName])
      let entry = builder.entry(of: origin) { (builder) throws(MaterialProblem) in
        try provider(known, by: &builder)
      }
      return [entry]
    } catch { return [.failure(error)] }
  }

  private func knownAccount(
    by builder: inout ProviderBuilder
  ) throws(MaterialProblem) -> ServiceAccount {
    try builder.shared(accountName) { (_) throws(MaterialProblem) in
      do throws(CredentialFileError) {
        return try ServiceAccount(
          json: account.bytes, file: account.source, tokenEndpoint: tokenEndpoint)
      } catch {
        throw MaterialProblem(
          part: "\(Self.part).service_account_file", source: account.source,
          message: error.description)
      }
    }
  }

  private var accountName: MaterialDigest {
    MaterialDigest([.init("fcm account"), .init(account), .init(tokenEndpoint)])
  }

  /// The rate that all who send to the project share. Of apps of Redis those share one that have the same key: whoever adds an app may
  /// name any project, and would slow down the others who send to it.
  private func quota(
    of account: ServiceAccount, by builder: inout ProviderBuilder
  ) throws(MaterialProblem) -> RateLimit {
    var name = "\(Self.part):\(account.projectID)"
    if builder.addsRedisApp {
      name += ":\(account.key.digest)"
    } else {
      let perMinute = builder.note(quota: messagesPerMinute, of: name)
      guard perMinute == messagesPerMinute else {
        throw MaterialProblem(
          part: "\(Self.part).messages_per_minute", source: nil,
          message: "is \(messagesPerMinute), and another app sends to the same project "
            + "\(account.projectID) with \(perMinute): the quota is the project's, give both the same"
        )
      }
    }
    return RateLimit(
      name: name, perSecond: Double(messagesPerMinute) / 60, rampMs: FCMLimits.rampMs)
  }

  private func provider(
    _ account: ServiceAccount, by builder: inout ProviderBuilder
  ) throws(MaterialProblem) -> FCMProvider {
    let destination = try builder.destination(
      access, ServiceAddress(host: "fcm.googleapis.com"), nil, startsWithOneStream: false,
      Self.part)
    let source = try builder.shared(tokenName) { (builder) throws(MaterialProblem) in
      FCMTokenSource(
        account: account, client: builder.client,
        authorities: try builder.pem(of: access.authorities, Self.part),
        proxy: access.proxy, clock: builder.clock)
    }
    return FCMProvider(
      projectID: account.projectID, destination: destination, credentials: source)
  }

  /// The name of the source of an account's tokens: whose they are, where they are exchanged, and how that is reached.
  private var tokenName: MaterialDigest {
    let login = access.proxy?.login
    return MaterialDigest([
      .init("fcm token"), .init(account), .init(tokenEndpoint), .init(access.authorities),
      .init(access.proxy?.url), .init(login?.user), .init(login?.password),
    ])
  }
}
