package import Model

/// Every provider of a configuration, found by app, network and environment. A snapshot that all lanes share: another
/// configuration is another directory.
package struct ProviderDirectory: Sendable {
  /// An app at one push network, and how it is sent to.
  package struct Entry: Sendable {
    /// The entry's number in the process. No other entry ever has it, also when a later directory has this one no more.
    package let number: Int
    package let app: String
    /// FCM has one provider for both environments.
    package let environments: Set<PushEnvironment>
    package let provider: any PushProvider
    /// The rates that the fleet keeps to when it sends there; the widest first.
    package let limits: [RateLimit]
    /// The digest of all that it is made of, but for how wide its rates are; nil where nobody asks.
    let origin: MaterialDigest?
    /// The parts that it has in common with others.
    let sources: SourceNames
    /// A text of the digest and the rates: equal in all processes that send there in the same way.
    package var originText: String {
      let rates = limits.map { " \($0.perSecond)" }.joined()
      return (origin?.text ?? "") + rates
    }
    /// The place among the entries of its app: of one for both environments, that of production.
    package var place: Int {
      provider.network.place(in: environments.contains(.production) ? .production : .development)
    }
    /// The entry's environments in words: the only one, or `all`.
    package var environmentName: String {
      environments.count == 1 ? environments.first!.rawValue : "all"
    }

    package init(
      number: Int, app: String, environments: Set<PushEnvironment>, provider: any PushProvider,
      limits: [RateLimit] = []
    ) {
      self.init(
        number: number, app: app, environments: environments, provider: provider, limits: limits,
        origin: nil, sources: SourceNames())
    }

    /// Returns the entry with other rates of the same names.
    func with(limits: [RateLimit]) -> Entry {
      Entry(
        number: number, app: app, environments: environments, provider: provider, limits: limits,
        origin: origin, sources: sources)
    }

    init(
      number: Int, app: String, environments: Set<PushEnvironment>, provider: any PushProvider,
      limits: [RateLimit], origin: MaterialDigest?, sources: SourceNames
    ) {
      self.origin = origin
      self.sources = sources
      self.number = number
      self.app = app
      self.environments = environments
      self.provider = provider
      self.limits = limits
    }
  }

  private struct Place {
    let network: Network
    let environment: PushEnvironment
    let number: Int
    /// Where the entry stands among all.
    let position: Int
  }

  /// Each provider once, by number.
  package let entries: [Entry]
  /// By app: there may be thousands, of a few entries each.
  private let places: [String: [Place]]
  /// A number above all that entries of the process have had.
  package let numbersEnd: Int
  let sources: ProviderSources
  /// By app: how many pushes a second the rates let through of the network that they slow down least; without the apps
  /// that have a network without a rate.
  package let perSecondMax: [String: Double]

  /// Has every provider and bearer token agreed upon with the fleet from now on; with nil, no more.
  package func share(through share: (any TokenShare)?) {
    for source in sources.tokenSources { source.share(through: share) }
  }

  /// - Parameter entries: by number.
  package init(entries: [Entry]) {
    self.init(
      entries: entries, numbersEnd: entries.last.map { $0.number + 1 } ?? 0,
      sources: ProviderSources())
  }

  init(entries: [Entry], numbersEnd: Int, sources: ProviderSources) {
    precondition(
      zip(entries, entries.dropFirst()).allSatisfy { $0.number < $1.number },
      "entries are not in the order of their numbers")
    self.entries = entries
    self.numbersEnd = numbersEnd
    self.sources = sources
    var places: [String: [Place]] = [:]
    for (position, entry) in entries.enumerated() {
      for environment in PushEnvironment.allCases where entry.environments.contains(environment) {
        places[entry.app, default: []].append(
          Place(
            network: entry.provider.network, environment: environment, number: entry.number,
            position: position))
      }
    }
    self.places = places
    var perSecondMax: [String: Double] = [:]
    for entry in entries {
      let perSecond = entry.limits.map(\.perSecond).min() ?? .infinity
      perSecondMax[entry.app] = max(perSecondMax[entry.app] ?? 0, perSecond)
    }
    self.perSecondMax = perSecondMax.filter { $0.value < .infinity }
  }

  /// Returns the directory without the apps that are not meant. Entries keep their numbers, and credentials their sources.
  package func only(_ isMeant: (_ app: String) -> Bool) -> ProviderDirectory {
    ProviderDirectory(
      entries: entries.filter { isMeant($0.app) }, numbersEnd: numbersEnd, sources: sources)
  }

  /// The entry of a number; nil when this directory has it not.
  package func entry(_ number: Int) -> Entry? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].number == number ? entries[low] : nil
  }

  /// The entries that another directory has not.
  package func entries(missingIn other: ProviderDirectory) -> [Entry] {
    var missing: [Entry] = []
    var kept = other.entries[...]
    for entry in entries {
      kept = kept.drop { $0.number < entry.number }
      if kept.first?.number != entry.number { missing.append(entry) }
    }
    return missing
  }

  /// Whether an app is sent to as in another directory: over the same entries, by the same rates.
  package func sends(_ app: String, as other: ProviderDirectory) -> Bool {
    let numbers = numbers(app: app)
    return numbers == other.numbers(app: app)
      && numbers.allSatisfy { entry($0)?.limits == other.entry($0)?.limits }
  }

  /// The numbers of an app's entries.
  package func numbers(app: String) -> [Int] {
    var found: [Int] = []
    for place in places[app] ?? [] where found.last != place.number { found.append(place.number) }
    return found
  }

  /// The numbers of the entries that a job of the app with this content goes to.
  package func numbers(app: String, for content: JobContent) -> [Int] {
    var found: [Int] = []
    for place in places[app] ?? []
    where content.environments.contains(place.environment) && content.isFor(place.network)
      && found.last != place.number
    {
      found.append(place.number)
    }
    return found
  }

  /// The numbers of an app's entries, each with what it sends to.
  package func eachNumber(
    of app: String, _ note: (Network, PushEnvironment, Int) -> Void
  ) {
    for place in places[app] ?? [] { note(place.network, place.environment, place.number) }
  }

  /// The number of an entry; nil when the app has no account at that network and environment.
  package func number(
    app: String, network: Network, environment: PushEnvironment
  ) -> Int? {
    place(app, network, environment)?.number
  }

  package func provider(
    app: String, network: Network, environment: PushEnvironment
  ) -> (any PushProvider)? {
    place(app, network, environment).map { entries[$0.position].provider }
  }

  /// The providers of an app that send in any of these environments, each once.
  func providers(app: String, in environments: Set<PushEnvironment>) -> [any PushProvider] {
    var found: [Int] = []
    for place in places[app] ?? []
    where environments.contains(place.environment) && found.last != place.position {
      found.append(place.position)
    }
    return found.map { entries[$0].provider }
  }

  /// Whether an app has a provider that sends in any of these environments.
  func hasProvider(app: String, in environments: Set<PushEnvironment>) -> Bool {
    places[app]?.contains { environments.contains($0.environment) } ?? false
  }

  private func place(
    _ app: String, _ network: Network, _ environment: PushEnvironment
  ) -> Place? {
    places[app]?.last { $0.network == network && $0.environment == environment }
  }
}
