package import Model
internal import PushpoolConfiguration
internal import Reactor

/// An app at APNs, in one environment.
package struct APNsMaterial: Sendable {
  package enum Credential: Sendable {
    /// A signing key, as Apple gives it out.
    case token(key: MaterialBytes, keyID: String, teamID: String)
    /// A certificate with its key.
    case certificate(MaterialBytes, password: MaterialBytes?)
  }

  package var environment: PushEnvironment
  package var credential: Credential
  package var topic: String
  package var access: AccessMaterial

  package init(
    environment: PushEnvironment, credential: Credential, topic: String,
    access: AccessMaterial = AccessMaterial()
  ) {
    self.environment = environment
    self.credential = credential
    self.topic = topic
    self.access = access
  }
}

/// The settings of an app at APNs, in one environment.
struct APNsSettings: AccountSettings {
  let environment: PushEnvironment
  let configuration: APNsConfiguration

  func material(from files: AppFiles) -> (any NetworkMaterial)? {
    let part = APNsMaterial.part(in: environment)
    let access = files.access(configuration.access, part)
    let credential: APNsMaterial.Credential?
    switch configuration.credential {
    case .token(let keyFile, let keyID, let teamID):
      credential = files.file(keyFile, "\(part).key_file").map {
        .token(key: $0, keyID: keyID, teamID: teamID)
      }
    case .certificate(let file, let passwordFile):
      let certificate = files.file(file, "\(part).certificate_file")
      let password = passwordFile.flatMap { files.secret($0, "\(part).password_file") }
      let isWhole = passwordFile == nil || password != nil
      credential =
        isWhole ? certificate.map { .certificate($0, password: password) } : nil
    }
    guard let access, let credential else { return nil }
    return APNsMaterial(
      environment: environment, credential: credential, topic: configuration.topic, access: access)
  }
}

/// The form of an app at APNs, in one environment.
struct APNsForm: AccountForm {
  let environment: PushEnvironment
  let form: AppForm.APNs

  func material(with secrets: GivenSecrets) -> (any NetworkMaterial)? {
    let credential: APNsMaterial.Credential? =
      switch form.credential {
      case .token(let keyID, let teamID):
        secrets[.apns(environment, .key)].map {
          .token(key: $0, keyID: keyID, teamID: teamID)
        }
      case .certificate:
        secrets[.apns(environment, .certificate)].map {
          .certificate($0, password: secrets[.apns(environment, .password)])
        }
      }
    return credential.map {
      APNsMaterial(
        environment: environment, credential: $0, topic: form.topic,
        access: secrets.access(form.access, password: .apns(environment, .proxyPassword)))
    }
  }
}

extension APNsMaterial: NetworkMaterial {
  package func entries(
    of app: String, _ limits: [RateLimit], by builder: inout ProviderBuilder
  ) -> [Result<ProviderDirectory.Entry, MaterialProblem>] {
    let origin = EntryOrigin(
      app: app, environments: [environment], limits: limits, part: part, parts: parts,
      access: access, shared: tokenName.map { [$0] } ?? [])
    let entry = builder.entry(of: origin) { (builder) throws(MaterialProblem) in
      try provider(by: &builder)
    }
    return [entry]
  }

  /// The name of its part within the app.
  fileprivate static func part(in environment: PushEnvironment) -> String {
    "\(Network.apns.rawValue).\(environment.rawValue)"
  }

  private var part: String { Self.part(in: environment) }

  private var parts: [MaterialDigest.Part] {
    let own: [MaterialDigest.Part] =
      switch credential {
      case .token(let key, let keyID, let teamID):
        [.init("token"), .init(key), .init(keyID), .init(teamID)]
      case .certificate(let certificate, let password):
        [.init("certificate"), .init(certificate), .init(password)]
      }
    return own + [.init(topic)] + access.parts
  }

  /// The name of the source of a key's tokens, which all who have the key share; nil for a certificate.
  private var tokenName: MaterialDigest? {
    guard case .token(let key, let keyID, let teamID) = credential else { return nil }
    return MaterialDigest([.init("apns token"), .init(key), .init(keyID), .init(teamID)])
  }

  private func provider(
    by builder: inout ProviderBuilder
  ) throws(MaterialProblem) -> APNsProvider {
    let usual = ServiceAddress(
      host: environment == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com")
    var identity: ClientIdentity?
    let source: any CredentialSource
    switch credential {
    case .token(let key, let keyID, let teamID):
      source = APNsDestinationCredentials(
        shared: try tokenSource(key, keyID, teamID, by: &builder), clock: builder.clock)
    case .certificate(let certificate, let password):
      let shown: ClientIdentity
      do throws(TLSError) {
        shown = try ClientIdentity(
          content: certificate.bytes, file: certificate.source,
          password: password.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "",
          iterationsMax: builder.keyIterationsMax)
      } catch {
        throw MaterialProblem(
          part: "\(part).certificate_file", source: certificate.source, message: error.message)
      }
      identity = shown
      source = CertificateCredentialSource(
        certificate.place, expiresAtMs: shown.expiresAtMs, clock: builder.clock)
    }
    return APNsProvider(
      topic: topic,
      destination: try builder.destination(
        access, usual, identity, startsWithOneStream: identity == nil, part),
      credentials: source)
  }

  private func tokenSource(
    _ key: MaterialBytes, _ keyID: String, _ teamID: String, by builder: inout ProviderBuilder
  ) throws(MaterialProblem) -> APNsTokenSource {
    let clock = builder.clock
    return try builder.shared(tokenName) { (_) throws(MaterialProblem) in
      do throws(CredentialFileError) {
        return APNsTokenSource(
          key: try SigningKey(content: key.bytes, file: key.source, algorithm: .es256),
          keyID: keyID, teamID: teamID, clock: clock)
      } catch {
        throw MaterialProblem(
          part: "\(part).key_file", source: key.source, message: error.description)
      }
    }
  }
}
