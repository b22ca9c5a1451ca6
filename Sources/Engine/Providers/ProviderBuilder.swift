package import HTTPClient
internal import Model
internal import PushpoolConfiguration
internal import Reactor

/// Makes a directory of providers, app by app, of their material, wherever that came from. What the directory before has
/// in the same way goes on: its entries with their numbers, and its sources of credentials.
package struct ProviderBuilder {
  private let client: HTTPClient
  private let clock: WallClock
  /// The entries of the directory before, by what they are made of.
  private let earlier: [MaterialDigest: ProviderDirectory.Entry]
  private let earlierSources: ProviderSources
  private var sources = ProviderSources()
  private var entries: [ProviderDirectory.Entry] = []
  private var numbersEnd: Int

  /// - Parameters:
  ///   - client: exchanges OAuth tokens; shared.
  ///   - previous: the directory before; nil for the first one of the process.
  package init(client: HTTPClient, clock: WallClock, after previous: ProviderDirectory? = nil) {
    self.client = client
    self.clock = clock
    earlier = Dictionary(
      (previous?.entries ?? []).compactMap { entry in entry.origin.map { ($0, entry) } },
      uniquingKeysWith: { $1 })
    earlierSources = previous?.sources ?? ProviderSources()
    numbersEnd = previous?.numbersEnd ?? 0
  }

  /// - Parameter directory: all of it goes on, and apps are added.
  init(client: HTTPClient, clock: WallClock, extending directory: ProviderDirectory) {
    self.init(client: client, clock: clock, after: directory)
    entries = directory.entries
    sources = directory.sources
  }

  /// The directory of the apps that were added.
  package func directory() -> ProviderDirectory {
    ProviderDirectory(
      entries: entries.sorted { $0.number < $1.number }, numbersEnd: numbersEnd, sources: sources)
  }

  /// Adds an app, or nothing of it.
  /// - Throws: each part of it that cannot be used.
  package mutating func add(_ app: AppMaterial) throws(MaterialProblems) {
    let own = app.pushesPerSecond.map {
      RateLimit(name: "app:\(app.id)", perSecond: Double($0), isOfApp: true)
    }
    let limits = own.map { [$0] } ?? []
    var made: [ProviderDirectory.Entry] = []
    var problems: [MaterialProblem] = []
    func attempt(_ body: () throws(MaterialProblem) -> ProviderDirectory.Entry) {
      do throws(MaterialProblem) { made.append(try body()) } catch { problems.append(error) }
    }
    for environment in PushEnvironment.allCases {
      guard let apns = app.apns[environment] else { continue }
      attempt { () throws(MaterialProblem) in
        try entry(of: app, apns, environment, limits)
      }
    }
    var quota: (project: String, perMinute: Int)?
    if let fcm = app.fcm {
      attempt { () throws(MaterialProblem) in
        let (entry, project) = try entry(of: app, fcm, limits)
        quota = (project, fcm.messagesPerMinute)
        return entry
      }
    }
    if let jpush = app.jpush {
      // One of each, since a request names the environment; an app key is for both.
      for environment in PushEnvironment.allCases {
        attempt { () throws(MaterialProblem) in
          try entry(of: app, jpush, environment, limits)
        }
      }
    }
    guard problems.isEmpty else { throw MaterialProblems(problems) }
    if let quota { sources.quotas[quota.project] = quota.perMinute }
    for entry in made {
      guard entry.number == Self.unnumbered else {
        entries.append(entry)
        continue
      }
      entries.append(
        ProviderDirectory.Entry(
          number: numbersEnd, app: entry.app, environments: entry.environments,
          provider: entry.provider, limits: entry.limits, origin: entry.origin))
      numbersEnd += 1
    }
  }

  /// The number of an entry that has none yet.
  private static let unnumbered = -1

  // MARK: Networks

  /// The entry of the directory before that is made of the same, or another, which has no number yet.
  /// - Parameter keep: has the sources of the former go on.
  private mutating func entry(
    _ app: AppMaterial, _ environments: Set<PushEnvironment>, _ limits: [RateLimit],
    _ name: String, _ parts: [MaterialDigest.Part], keeping keep: (inout Self) -> Void,
    _ make: (inout Self) throws(MaterialProblem) -> any PushProvider
  ) throws(MaterialProblem) -> ProviderDirectory.Entry {
    let origin = MaterialDigest(
      [.init(app.id), .init(name)] + limits.map { .init($0) } + [.init("")] + parts)
    if let known = earlier[origin] {
      keep(&self)
      return known
    }
    return ProviderDirectory.Entry(
      number: Self.unnumbered, app: app.id, environments: environments,
      provider: try make(&self), limits: limits, origin: origin)
  }

  private mutating func entry(
    of app: AppMaterial, _ apns: APNsMaterial, _ environment: PushEnvironment,
    _ limits: [RateLimit]
  ) throws(MaterialProblem) -> ProviderDirectory.Entry {
    let part = "apns.\(environment.rawValue)"
    return try entry(
      app, [environment], limits, part, apns.parts,
      keeping: { builder in
        if case .token(let key, let keyID, let teamID) = apns.credential {
          let name = Self.name(key, keyID, teamID)
          builder.sources.apns[name] = builder.earlierSources.apns[name]
        }
        builder.keepTrust(apns.access)
      },
      { (builder) throws(MaterialProblem) in try builder.provider(apns, environment, part) })
  }

  private static func name(
    _ key: MaterialBytes, _ keyID: String, _ teamID: String
  ) -> MaterialDigest {
    MaterialDigest([.init(key), .init(keyID), .init(teamID)])
  }

  private mutating func provider(
    _ apns: APNsMaterial, _ environment: PushEnvironment, _ part: String
  ) throws(MaterialProblem) -> APNsProvider {
    let usual = ServiceAddress(
      host: environment == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com")
    var identity: ClientIdentity?
    let source: any CredentialSource
    switch apns.credential {
    case .token(let key, let keyID, let teamID):
      source = APNsDestinationCredentials(
        shared: try tokenSource(key, keyID, teamID, part), clock: clock)
    case .certificate(let certificate, let password):
      let shown: ClientIdentity
      do throws(TLSError) {
        shown = try ClientIdentity(
          content: certificate.bytes, file: certificate.source,
          password: password.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "")
      } catch {
        throw MaterialProblem(
          part: "\(part).certificate_file", source: certificate.source, message: error.message)
      }
      identity = shown
      source = CertificateCredentialSource(
        file: certificate.source, expiresAtMs: shown.expiresAtMs, clock: clock)
    }
    return APNsProvider(
      topic: apns.topic,
      destination: try destination(
        apns.access, usual, identity, startsWithOneStream: identity == nil, part),
      credentials: source)
  }

  private mutating func tokenSource(
    _ key: MaterialBytes, _ keyID: String, _ teamID: String, _ part: String
  ) throws(MaterialProblem) -> APNsTokenSource {
    let name = Self.name(key, keyID, teamID)
    if let source = sources.apns[name] ?? earlierSources.apns[name] {
      sources.apns[name] = source
      return source
    }
    do throws(CredentialFileError) {
      let source = APNsTokenSource(
        key: try SigningKey(content: key.bytes, file: key.source, algorithm: .es256),
        keyID: keyID, teamID: teamID, clock: clock)
      sources.apns[name] = source
      return source
    } catch {
      throw MaterialProblem(
        part: "\(part).key_file", source: key.source, message: error.description)
    }
  }

  private mutating func entry(
    of app: AppMaterial, _ fcm: FCMMaterial, _ limits: [RateLimit]
  ) throws(MaterialProblem) -> (ProviderDirectory.Entry, project: String) {
    let account = try account(fcm)
    let limits = limits + [try quota(of: account.projectID, fcm)]
    let entry = try entry(
      app, PushEnvironment.all, limits, "fcm", fcm.parts,
      keeping: { builder in
        let name = Self.name(of: fcm)
        builder.sources.fcm[name] = builder.earlierSources.fcm[name]
        builder.keepTrust(fcm.access)
      }, { (builder) throws(MaterialProblem) in try builder.provider(fcm, account) })
    return (entry, account.projectID)
  }

  private mutating func account(_ fcm: FCMMaterial) throws(MaterialProblem) -> ServiceAccount {
    let name = MaterialDigest([.init(fcm.account), .init(fcm.tokenEndpoint)])
    if let account = sources.accounts[name] ?? earlierSources.accounts[name] {
      sources.accounts[name] = account
      return account
    }
    do throws(CredentialFileError) {
      let account = try ServiceAccount(
        json: fcm.account.bytes, file: fcm.account.source, tokenEndpoint: fcm.tokenEndpoint)
      sources.accounts[name] = account
      return account
    } catch {
      throw MaterialProblem(
        part: "fcm.service_account_file", source: fcm.account.source, message: error.description)
    }
  }

  /// The rate that all who send to the project share.
  private func quota(
    of project: String, _ fcm: FCMMaterial
  ) throws(MaterialProblem) -> RateLimit {
    let perMinute = sources.quotas[project] ?? fcm.messagesPerMinute
    guard perMinute == fcm.messagesPerMinute else {
      throw MaterialProblem(
        part: "fcm.messages_per_minute", source: nil,
        message: "is \(fcm.messagesPerMinute), and another app sends to the same project "
          + "\(project) with \(perMinute): the quota is the project's, give both the same")
    }
    return RateLimit(
      name: "fcm:\(project)", perSecond: Double(perMinute) / 60,
      rampMs: ProviderLimits.fcmRampMs)
  }

  private mutating func provider(
    _ fcm: FCMMaterial, _ account: ServiceAccount
  ) throws(MaterialProblem) -> FCMProvider {
    let destination = try destination(
      fcm.access, ServiceAddress(host: "fcm.googleapis.com"), nil, startsWithOneStream: false,
      "fcm")
    let name = Self.name(of: fcm)
    let source: FCMTokenSource
    if let known = sources.fcm[name] ?? earlierSources.fcm[name] {
      source = known
    } else {
      source = FCMTokenSource(
        account: account, client: client, authorities: try pem(of: fcm.access.authorities),
        proxy: fcm.access.proxy, clock: clock)
    }
    sources.fcm[name] = source
    return FCMProvider(
      projectID: account.projectID, destination: destination, credentials: source)
  }

  /// The name of the source of an account's tokens: whose they are, where they are exchanged, and how that is reached.
  private static func name(of fcm: FCMMaterial) -> MaterialDigest {
    let (access, login) = (fcm.access, fcm.access.proxy?.login)
    return MaterialDigest([
      .init(fcm.account), .init(fcm.tokenEndpoint), .init(access.authorities),
      .init(access.proxy?.url), .init(login?.user), .init(login?.password),
    ])
  }

  private mutating func entry(
    of app: AppMaterial, _ jpush: JPushMaterial, _ environment: PushEnvironment,
    _ limits: [RateLimit]
  ) throws(MaterialProblem) -> ProviderDirectory.Entry {
    try entry(
      app, [environment], limits, "jpush.\(environment.rawValue)", jpush.parts,
      keeping: { builder in
        _ = builder.credentials(of: jpush)
        builder.keepTrust(jpush.access)
      },
      { (builder) throws(MaterialProblem) in
        JPushProvider(
          appKey: jpush.appKey, environment: environment,
          destination: try builder.destination(
            jpush.access, ServiceAddress(host: "api.jpush.cn"), nil, startsWithOneStream: false,
            acceptsHTTP1: true, "jpush"),
          credentials: builder.credentials(of: jpush))
      })
  }

  private mutating func credentials(of jpush: JPushMaterial) -> JPushCredentialSource {
    let name = MaterialDigest([.init(jpush.appKey), .init(jpush.masterSecret)])
    let source =
      sources.jpush[name] ?? earlierSources.jpush[name]
      ?? JPushCredentialSource(
        appKey: jpush.appKey,
        secret: Secret(String(decoding: jpush.masterSecret.bytes, as: UTF8.self)),
        file: jpush.masterSecret.source, clock: clock)
    sources.jpush[name] = source
    return source
  }

  // MARK: Where they are

  private mutating func destination(
    _ access: AccessMaterial, _ usual: ServiceAddress, _ identity: ClientIdentity?,
    startsWithOneStream: Bool, acceptsHTTP1: Bool = false, _ part: String
  ) throws(MaterialProblem) -> PushDestination {
    do throws(TLSError) {
      return PushDestination(
        address: access.address ?? usual, tls: try context(access.authorities, identity),
        proxy: access.proxy, startsWithOneStream: startsWithOneStream, acceptsHTTP1: acceptsHTTP1)
    } catch {
      throw MaterialProblem(
        part: "\(part).ca_file", source: access.authorities?.source, message: error.message)
    }
  }

  private mutating func context(
    _ authorities: MaterialBytes?, _ identity: ClientIdentity?
  ) throws(TLSError) -> TLSContext {
    let name = Self.name(of: authorities)
    keepTrust(name)
    if identity == nil, let context = sources.contexts[name] { return context }
    let store: TrustStore
    if let known = sources.trust[name] {
      store = known
    } else {
      store = try TrustStore(authorities: authorities?.bytes, file: authorities?.source ?? "")
    }
    sources.trust[name] = store
    let context = try TLSContext.client(trusting: store, identity: identity, alpn: ["h2"])
    if identity == nil { sources.contexts[name] = context }
    return context
  }

  /// The authorities as libcurl takes them, once for all who trust the same.
  private mutating func pem(
    of authorities: MaterialBytes?
  ) throws(MaterialProblem) -> [UInt8]? {
    guard let authorities, let name = Self.name(of: authorities) else { return nil }
    if let known = sources.pem[name] { return known }
    do throws(TLSError) {
      let pem = try TrustStore.pem(of: authorities.bytes, file: authorities.source)
      sources.pem[name] = pem
      return pem
    } catch {
      throw MaterialProblem(
        part: "fcm.ca_file", source: authorities.source, message: error.message)
    }
  }

  private static func name(of authorities: MaterialBytes?) -> MaterialDigest? {
    authorities.map { MaterialDigest([.init($0)]) }
  }

  private mutating func keepTrust(_ access: AccessMaterial) {
    keepTrust(Self.name(of: access.authorities))
  }

  private mutating func keepTrust(_ name: MaterialDigest?) {
    sources.trust[name] = sources.trust[name] ?? earlierSources.trust[name]
    sources.contexts[name] = sources.contexts[name] ?? earlierSources.contexts[name]
    if let name { sources.pem[name] = sources.pem[name] ?? earlierSources.pem[name] }
  }
}
