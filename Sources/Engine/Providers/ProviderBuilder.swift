import Configuration
import HTTPClient
import Model
import Reactor

/// Builds the providers of one configuration. Apps that name the same key or account share its credential source.
struct ProviderBuilder {
  private struct APNsKey: Hashable {
    let file: String
    let keyID: String
    let teamID: String
  }

  private struct FCMAccount: Hashable {
    let file: String
    let tokenEndpoint: String?
    let caFile: String?
    let proxy: ProxyServer?
  }

  private struct AccountFile: Hashable {
    let file: String
    let tokenEndpoint: String?
  }

  private struct JPushApp: Hashable {
    let appKey: String
    let file: String
  }

  private let configuration: Configuration
  private let client: HTTPClient
  private let clock: WallClock
  /// By `ca_file`: whom connections trust, and the context of those that show no certificate.
  private var trust: [String?: TrustStore] = [:]
  private var contexts: [String?: TLSContext] = [:]
  private var accounts: [AccountFile: ServiceAccount] = [:]
  private var apnsSources: [APNsKey: APNsTokenSource] = [:]
  private var fcmSources: [FCMAccount: FCMTokenSource] = [:]
  private var jpushSources: [JPushApp: JPushCredentialSource] = [:]
  private var quotas: [String: Int] = [:]

  /// Each APNs key's tokens, and each service account's.
  var tokenSources: [any SharedTokenSource] { Array(apnsSources.values) + Array(fcmSources.values) }

  init(configuration: Configuration, client: HTTPClient, clock: WallClock) {
    self.configuration = configuration
    self.client = client
    self.clock = clock
  }

  mutating func apns(
    _ apns: APNsConfiguration, _ environment: PushEnvironment, field: String
  ) throws(ConfigurationError) -> APNsProvider {
    let usual = ServiceAddress(
      host: environment == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com")
    var identity: ClientIdentity?
    let source: any CredentialSource
    switch apns.credential {
    case .token(let keyFile, let keyID, let teamID):
      source = APNsDestinationCredentials(
        shared: try tokenSource(keyFile, keyID, teamID, field), clock: clock)
    case .certificate(let file, let passwordFile):
      let shown = try clientIdentity(file, passwordFile, field)
      identity = shown
      source = CertificateCredentialSource(
        file: file, expiresAtMs: shown.expiresAtMs, clock: clock)
    }
    return APNsProvider(
      topic: apns.topic,
      destination: try destination(
        apns.access, usual, identity, startsWithOneStream: identity == nil, field),
      credentials: source)
  }

  mutating func fcm(
    _ fcm: FCMConfiguration, field: String
  ) throws(ConfigurationError) -> FCMProvider {
    let account = try account(fcm, field)
    let caller = FCMAccount(
      file: fcm.serviceAccountFile, tokenEndpoint: fcm.tokenEndpoint?.description,
      caFile: fcm.access.caFile, proxy: try proxy(fcm.access, field))
    let source =
      fcmSources[caller]
      ?? FCMTokenSource(
        account: account, client: client, caFile: caller.caFile, proxy: caller.proxy, clock: clock)
    fcmSources[caller] = source
    return FCMProvider(
      projectID: account.projectID,
      destination: try destination(
        fcm.access, ServiceAddress(host: "fcm.googleapis.com"), nil, startsWithOneStream: false,
        field),
      credentials: source)
  }

  private mutating func account(
    _ fcm: FCMConfiguration, _ field: String
  ) throws(ConfigurationError) -> ServiceAccount {
    let tokenEndpoint = fcm.tokenEndpoint?.description
    let name = AccountFile(file: fcm.serviceAccountFile, tokenEndpoint: tokenEndpoint)
    if let account = accounts[name] { return account }
    do throws(CredentialFileError) {
      let account = try ServiceAccount(
        file: fcm.serviceAccountFile, tokenEndpoint: tokenEndpoint)
      accounts[name] = account
      return account
    } catch {
      throw refused("\(field).service_account_file", fcm.serviceAccountFile, error.description)
    }
  }

  /// The rate that all who send to the project share.
  mutating func quota(
    of provider: FCMProvider, _ fcm: FCMConfiguration, field: String
  ) throws(ConfigurationError) -> RateLimit {
    let perMinute = quotas[provider.projectID] ?? fcm.messagesPerMinute
    guard perMinute == fcm.messagesPerMinute else {
      throw ConfigurationError(
        file: "configuration", line: nil, field: "\(field).messages_per_minute",
        message: "is \(fcm.messagesPerMinute), and another app sends to the same project "
          + "\(provider.projectID) with \(perMinute): the quota is the project's, give both the same"
      )
    }
    quotas[provider.projectID] = perMinute
    return RateLimit(
      name: "fcm:\(provider.projectID)", perSecond: Double(perMinute) / 60,
      rampMs: ProviderLimits.fcmRampMs)
  }

  mutating func jpush(
    _ jpush: JPushConfiguration, _ environment: PushEnvironment, field: String
  ) throws(ConfigurationError) -> JPushProvider {
    JPushProvider(
      appKey: jpush.appKey, environment: environment,
      destination: try destination(
        jpush.access, ServiceAddress(host: "api.jpush.cn"), nil, startsWithOneStream: false,
        acceptsHTTP1: true, field),
      credentials: try credentials(of: jpush, field))
  }

  private mutating func credentials(
    of jpush: JPushConfiguration, _ field: String
  ) throws(ConfigurationError) -> JPushCredentialSource {
    let app = JPushApp(appKey: jpush.appKey, file: jpush.masterSecretFile)
    if let source = jpushSources[app] { return source }
    let name = "\(field).master_secret_file"
    let secret: Secret
    do throws(ConfigurationError) {
      secret = try SecretFile.read(app.file, field: name)
    } catch {
      throw refused(name, app.file, "\(app.file) \(error.message)")
    }
    let source = JPushCredentialSource(
      appKey: app.appKey, secret: secret, file: app.file, clock: clock)
    jpushSources[app] = source
    return source
  }

  private mutating func tokenSource(
    _ keyFile: String, _ keyID: String, _ teamID: String, _ field: String
  ) throws(ConfigurationError) -> APNsTokenSource {
    let name = APNsKey(file: keyFile, keyID: keyID, teamID: teamID)
    if let source = apnsSources[name] { return source }
    do throws(CredentialFileError) {
      let key = try SigningKey(file: keyFile, algorithm: .es256)
      let source = APNsTokenSource(key: key, keyID: keyID, teamID: teamID, clock: clock)
      apnsSources[name] = source
      return source
    } catch {
      throw refused("\(field).key_file", keyFile, error.description)
    }
  }

  private func clientIdentity(
    _ file: String, _ passwordFile: String?, _ field: String
  ) throws(ConfigurationError) -> ClientIdentity {
    var password = ""
    if let passwordFile {
      password = try SecretFile.read(passwordFile, field: "\(field).password_file").text
    }
    do throws(TLSError) {
      return try ClientIdentity(file: file, password: password)
    } catch {
      throw refused("\(field).certificate_file", file, error.message)
    }
  }

  private mutating func destination(
    _ access: Access, _ usual: ServiceAddress, _ identity: ClientIdentity?,
    startsWithOneStream: Bool, acceptsHTTP1: Bool = false, _ field: String
  ) throws(ConfigurationError) -> PushDestination {
    let address =
      access.endpoint.map { ServiceAddress(host: $0.host, port: $0.port) } ?? usual
    let proxy = try proxy(access, field)
    do throws(TLSError) {
      return PushDestination(
        address: address,
        tls: try context(caFile: access.caFile, identity), proxy: proxy,
        startsWithOneStream: startsWithOneStream, acceptsHTTP1: acceptsHTTP1)
    } catch {
      throw refused("\(field).ca_file", access.caFile ?? "", error.message)
    }
  }

  /// Apps by the thousand trust the same authorities.
  private mutating func context(
    caFile: String?, _ identity: ClientIdentity?
  ) throws(TLSError) -> TLSContext {
    if identity == nil, let context = contexts[caFile] { return context }
    let store: TrustStore
    if let known = trust[caFile] { store = known } else { store = try TrustStore(caFile: caFile) }
    trust[caFile] = store
    let context = try TLSContext.client(trusting: store, identity: identity, alpn: ["h2"])
    if identity == nil { contexts[caFile] = context }
    return context
  }

  private func proxy(
    _ access: Access, _ field: String
  ) throws(ConfigurationError) -> ProxyServer? {
    guard let proxy = access.proxy else { return nil }
    let way: ProxyServer.Way =
      switch proxy.scheme {
      case .http: .http
      case .socks5: .socks5
      case .socks5h: .socks5h
      }
    var login: ProxyServer.Login?
    if let known = access.proxyLogin {
      let password = try SecretFile.read(
        known.passwordFile, field: "\(field).proxy_password_file")
      login = ProxyServer.Login(user: known.user, password: password.text)
    }
    return ProxyServer(way, host: proxy.host, port: proxy.port, login: login)
  }

  /// The complaint at the line of the configuration that names the file.
  private func refused(_ field: String, _ path: String, _ message: String) -> ConfigurationError {
    let place = configuration.files.first { $0.path == path && $0.field == field }
    return ConfigurationError(
      file: place?.namedIn ?? path, line: place?.line, field: place?.field ?? field,
      message: message)
  }
}
