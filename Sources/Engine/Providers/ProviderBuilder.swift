package import HTTPClient
internal import Model
internal import Reactor

/// Makes a directory of providers, app by app, of their material, wherever that came from. What the directory before has
/// in the same way goes on: its entries with their numbers, and its sources of credentials.
package struct ProviderBuilder {
  let client: HTTPClient
  let clock: WallClock
  /// The entries of the directory before, by what they are made of.
  private let earlier: [MaterialDigest: ProviderDirectory.Entry]
  private let earlierSources: ProviderSources
  private var sources = ProviderSources()
  private var entries: [ProviderDirectory.Entry] = []
  /// The quotas of the app that is being added, by the names of their rates.
  private var quotas: [String: Int] = [:]
  /// Whether the app that is being added stands in Redis.
  private(set) var addsRedisApp = false
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

  /// - Parameter sources: parts that the first directory goes on with.
  init(client: HTTPClient, clock: WallClock, sources: ProviderSources) {
    self.client = client
    self.clock = clock
    earlier = [:]
    earlierSources = sources
    numbersEnd = 0
  }

  /// - Parameter directory: all of it goes on, and apps are added.
  init(client: HTTPClient, clock: WallClock, extending directory: ProviderDirectory) {
    self.init(client: client, clock: clock, after: directory)
    entries = directory.entries
    sources = directory.sources
  }

  /// Goes on with entries of the directory before, and with all that they are made of.
  mutating func keep(_ kept: [ProviderDirectory.Entry]) {
    entries += kept
    for entry in kept { sources.take(entry.sources, from: earlierSources) }
  }

  /// Goes on with what the configuration says of accounts, for a directory with the same apps of it.
  mutating func keepQuotas() { sources.quotas = earlierSources.quotas }

  /// How many entries it has.
  var count: Int { entries.count }

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
    quotas = [:]
    addsRedisApp = app.standsInRedis
    for account in app.accounts {
      for entry in account.entries(of: app.id, limits, by: &self) {
        do throws(MaterialProblem) { made.append(try entry.get()) } catch {
          problems.append(error)
        }
      }
    }
    guard problems.isEmpty else { throw MaterialProblems(problems) }
    if app.standsInRedis {
      guard entries.count + made.count <= ProviderLimits.entriesMax else {
        throw MaterialProblems(
          [MaterialProblem(part: "", source: nil, message: ProviderLimits.noPlace)],
          placesNeeded: made.count)
      }
    } else {
      sources.quotas.merge(quotas) { $1 }
    }
    for entry in made {
      guard entry.number == Self.unnumbered else {
        entries.append(entry)
        continue
      }
      entries.append(
        ProviderDirectory.Entry(
          number: numbersEnd, app: entry.app, environments: entry.environments,
          provider: entry.provider, limits: entry.limits, origin: entry.origin,
          sources: entry.sources))
      numbersEnd += 1
    }
  }

  /// The number of an entry that has none yet.
  private static let unnumbered = -1

  // MARK: What accounts ask for

  /// Iterations by which the password of a certificate's key may open it: fewer where others may add apps.
  var keyIterationsMax: Int {
    addsRedisApp ? ProviderLimits.redisKeyIterationsMax : ReactorLimits.keyIterationsMax
  }

  /// The entry of the directory before that is made of the same, or another, which has no number yet.
  mutating func entry(
    of origin: EntryOrigin, _ make: (inout Self) throws(MaterialProblem) -> any PushProvider
  ) -> Result<ProviderDirectory.Entry, MaterialProblem> {
    let digest = origin.digest
    let names = SourceNames(
      shared: origin.shared, authorities: Self.name(of: origin.access.authorities))
    if let known = earlier[digest] {
      sources.take(names, from: earlierSources)
      return .success(known.with(limits: origin.limits))
    }
    do throws(MaterialProblem) {
      return .success(
        ProviderDirectory.Entry(
          number: Self.unnumbered, app: origin.app, environments: origin.environments,
          provider: try make(&self), limits: origin.limits, origin: digest, sources: names))
    } catch { return .failure(error) }
  }

  /// The part that all who have it under a name share: that of this directory, or of the one before, or one that is made now.
  /// - Parameter name: nil for a part that nobody else has.
  mutating func shared<Shared: Sendable, Problem>(
    _ name: MaterialDigest?, _ make: (inout Self) throws(Problem) -> Shared
  ) throws(Problem) -> Shared {
    guard let name else { return try make(&self) }
    let shared: Shared
    if let known = (sources.shared[name] ?? earlierSources.shared[name]) as? Shared {
      shared = known
    } else {
      shared = try make(&self)
    }
    sources.shared[name] = shared
    return shared
  }

  /// Notes the messages a minute that a network allows an account, unless the app cannot be added.
  /// - Parameter name: of the account's rate.
  /// - Returns: what the configuration says of the account, which may be something else.
  mutating func note(quota perMinute: Int, of name: String) -> Int {
    if let known = sources.quotas[name] { return known }
    quotas[name] = perMinute
    return perMinute
  }

  /// - Parameters:
  ///   - usual: the network's address, unless the material has another.
  ///   - part: the account's name within the app.
  mutating func destination(
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
    sources.takeTrust(name, from: earlierSources)
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
  /// - Parameter part: the account's name within the app.
  mutating func pem(
    of authorities: MaterialBytes?, _ part: String
  ) throws(MaterialProblem) -> [UInt8]? {
    guard let authorities, let name = Self.name(of: authorities) else { return nil }
    if let known = sources.pem[name] { return known }
    do throws(TLSError) {
      let pem = try TrustStore.pem(of: authorities.bytes, file: authorities.source)
      sources.pem[name] = pem
      return pem
    } catch {
      throw MaterialProblem(
        part: "\(part).ca_file", source: authorities.source, message: error.message)
    }
  }

  private static func name(of authorities: MaterialBytes?) -> MaterialDigest? {
    authorities.map { MaterialDigest([.init($0)]) }
  }
}

/// The things that an entry is made of. Where they are the same, the entry of the directory before goes on.
struct EntryOrigin {
  let app: String
  let environments: Set<PushEnvironment>
  let limits: [RateLimit]
  /// The name of the entry's part within the app.
  let part: String
  /// All that its provider is made of, in an order that never changes.
  let parts: [MaterialDigest.Part]
  let access: AccessMaterial
  /// The names of the parts that it shares with others.
  let shared: [MaterialDigest]

  var digest: MaterialDigest {
    MaterialDigest(
      [.init(app), .init(part)] + limits.map { .init($0) } + [.init("")] + parts)
  }
}
