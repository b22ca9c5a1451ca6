package import Configuration
package import HTTPClient
package import Model
import Reactor

/// Every provider of a configuration, found by app, network and environment. Built once at start and shared by
/// all lanes.
package struct ProviderDirectory: Sendable {
  package struct Entry: Sendable {
    package let app: String
    /// FCM has one provider for both environments.
    package let environments: Set<PushEnvironment>
    package let provider: any PushProvider
    /// The rates that the fleet keeps to when it sends there; the widest first.
    package let limits: [RateLimit]

    package init(
      app: String, environments: Set<PushEnvironment>, provider: any PushProvider,
      limits: [RateLimit] = []
    ) {
      self.app = app
      self.environments = environments
      self.provider = provider
      self.limits = limits
    }
  }

  private struct Place {
    let network: Network
    let environment: PushEnvironment
    let position: Int
  }

  /// A push names its provider by 16 bits.
  static let entriesMax = Int(Int16.max)

  /// Each provider once; a provider's position is its number for tables that a lane keeps.
  package let entries: [Entry]
  /// By app: there may be thousands, of a few entries each.
  private let places: [String: [Place]]
  private let tokenSources: [any SharedTokenSource]

  /// Loads every key, account and certificate; the error names the file and field that is wrong.
  ///
  /// - Parameter client: exchanges OAuth tokens; shared.
  package init(
    _ configuration: Configuration, client: HTTPClient, clock: WallClock = .system
  ) throws(ConfigurationError) {
    var builder = ProviderBuilder(configuration: configuration, client: client, clock: clock)
    var entries: [Entry] = []
    for (index, app) in configuration.apps.enumerated() {
      let field = "apps[\(index)]"
      let own = app.pushesPerSecond.map {
        RateLimit(name: "app:\(app.id)", perSecond: Double($0), isOfApp: true)
      }
      for environment in PushEnvironment.allCases {
        guard let apns = app.apns[environment] else { continue }
        let provider = try builder.apns(
          apns, environment, field: "\(field).apns.\(environment.rawValue)")
        entries.append(
          Entry(
            app: app.id, environments: [environment], provider: provider,
            limits: own.map { [$0] } ?? []))
      }
      if let fcm = app.fcm {
        let provider = try builder.fcm(fcm, field: "\(field).fcm")
        let quota = try builder.quota(of: provider, fcm, field: "\(field).fcm")
        entries.append(
          Entry(
            app: app.id, environments: PushEnvironment.all, provider: provider,
            limits: (own.map { [$0] } ?? []) + [quota]))
      }
      // One of each, since a request names the environment; an app key is for both.
      for environment in PushEnvironment.allCases {
        guard let jpush = app.jpush else { continue }
        let provider = try builder.jpush(jpush, environment, field: "\(field).jpush")
        entries.append(
          Entry(
            app: app.id, environments: [environment], provider: provider,
            limits: own.map { [$0] } ?? []))
      }
    }
    guard entries.count <= Self.entriesMax else {
      throw ConfigurationError(
        file: "configuration", line: nil, field: "apps",
        message:
          "have \(entries.count) networks and environments between them, and must have at most "
          + "\(Self.entriesMax): give some to another worker")
    }
    self.init(entries: entries, tokenSources: builder.tokenSources)
  }

  /// Has every provider and bearer token agreed upon with the fleet from now on; with nil, no more.
  package func share(through share: (any TokenShare)?) {
    for source in tokenSources { source.share(through: share) }
  }

  package init(entries: [Entry], tokenSources: [any SharedTokenSource] = []) {
    self.entries = entries
    self.tokenSources = tokenSources
    var places: [String: [Place]] = [:]
    for (position, entry) in entries.enumerated() {
      for environment in PushEnvironment.allCases where entry.environments.contains(environment) {
        places[entry.app, default: []].append(
          Place(network: entry.provider.network, environment: environment, position: position))
      }
    }
    self.places = places
  }

  /// The positions in `entries` of an app's providers that send in any of these environments, each once.
  /// - Parameter environments: nil for all.
  package func positions(app: String, environments: Set<PushEnvironment>? = nil) -> [Int] {
    var found: [Int] = []
    for place in places[app] ?? []
    where (environments?.contains(place.environment) ?? true) && found.last != place.position {
      found.append(place.position)
    }
    return found
  }

  /// The positions in `entries` of an app's providers, each with what it sends to.
  package func eachPosition(
    of app: String, _ note: (Network, PushEnvironment, Int) -> Void
  ) {
    for place in places[app] ?? [] { note(place.network, place.environment, place.position) }
  }

  /// The position in `entries`; nil when the app has no account at that network and environment.
  package func position(
    app: String, network: Network, environment: PushEnvironment
  ) -> Int? {
    places[app]?.last { $0.network == network && $0.environment == environment }?.position
  }

  package func provider(
    app: String, network: Network, environment: PushEnvironment
  ) -> (any PushProvider)? {
    position(app: app, network: network, environment: environment).map { entries[$0].provider }
  }
}
