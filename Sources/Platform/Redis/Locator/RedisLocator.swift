internal import Reactor

/// Decides where a connection goes: to an address that is configured, to where a node of a cluster has sent it, or to whoever
/// sentinels name. A value without input or output.
struct RedisLocator {
  enum Step {
    case connect(Endpoint)
    case ask(SentinelGroup)
  }

  /// The consequence of a connection that is lost, or could not be made.
  enum Departure: Equatable {
    /// Another place is to be tried at once: nothing is said yet.
    case atOnce
    /// There is nowhere else to go for now.
    case later(RedisError)
  }

  private let place: RedisPlace
  /// Where the next connection goes, whatever is configured.
  private var next: Endpoint?
  /// How many nodes in a row have named another.
  private var redirections = 0
  /// The node that was of use last.
  private var lastOfUse: Endpoint?
  /// The number of the address that is tried next.
  private var number = 0
  /// Why the addresses were of no use that were tried since one was, or since all were.
  private var failures: [(place: Endpoint, reason: RedisError)] = []

  init(_ place: RedisPlace) { self.place = place }

  /// The addresses to try in turn. The node that was of use last is among them: where the configured ones are gone, it knows
  /// the cluster.
  private var candidates: [Endpoint] {
    let addresses = place.addresses
    guard let lastOfUse, !addresses.isEmpty, !addresses.contains(lastOfUse) else {
      return addresses
    }
    return addresses + [lastOfUse]
  }

  /// The way to the next connection.
  var step: Step {
    if let next { return .connect(next) }
    if case .sentinels(let group) = place { return .ask(group) }
    let candidates = candidates
    return .connect(candidates[number % candidates.count])
  }

  /// Says why a server that works is to be left: most of all sentinels call another one the master. It may be cut off from them
  /// and its replicas, and then does not know it. Nil to stay.
  func reasonToLeave(_ place: Endpoint, after finding: SentinelFinding) -> RedisError? {
    guard case .sentinels(let group) = self.place, finding.isOfMost,
      case .success(let master) = finding.master, master != place
    else { return nil }
    return .connectionLost(
      reason: "the sentinels call \(master) the master \(group.master) now, and no longer \(place)")
  }

  /// The server at that place is of use.
  mutating func arrive(at place: Endpoint) {
    redirections = 0
    failures = []
    next = nil
    lastOfUse = place
  }

  /// The connection is made anew, to the same place.
  mutating func stay(at place: Endpoint) { next = place }

  /// The connection is lost, or could not be made.
  /// - Parameters:
  ///   - place: where it went.
  ///   - named: the node that this one has named.
  ///   - wasOfUse: whether the server there had been of use.
  mutating func leave(
    _ place: Endpoint, for named: Endpoint?, wasOfUse: Bool, because reason: RedisError
  ) -> Departure {
    next = redirections < RedisLimits.redirectionsMax ? named : nil
    redirections = next == nil ? 0 : redirections + 1
    guard next == nil else { return .atOnce }
    if case .sentinels(let group) = self.place {
      return .later(
        wasOfUse
          ? reason
          : reason.explained("at \(place), which the sentinels call the master \(group.master)"))
    }
    let count = candidates.count
    // It may be back at once; if it is not, the others are tried.
    guard !wasOfUse, count > 1 else { return .later(reason) }
    failures.append((place, reason))
    number = (number + 1) % count
    guard failures.count >= count else { return .atOnce }
    defer { failures = [] }
    return .later(Self.sum(failures))
  }

  /// The failures of all addresses as one, of the kind that tells the most: what a server answers is to be mended, and tells more
  /// than that another is away.
  private static func sum(_ failures: [(place: Endpoint, reason: RedisError)]) -> RedisError {
    let first = failures[0].reason
    guard failures.contains(where: { $0.reason != first }) else { return first }
    func sentences(without number: Int? = nil) -> String {
      failures.indices.filter { $0 != number }
        .map { "\(failures[$0].place): \(failures[$0].reason.bareReason)" }
        .joined(separator: "; ")
    }
    for failure in failures {
      if case .unsuitable = failure.reason { return .unsuitable(reason: sentences()) }
    }
    for (number, failure) in failures.enumerated() {
      guard case .server(let code, let message) = failure.reason else { continue }
      return .server(
        code: code, message: "\(message) (\(failure.place)); \(sentences(without: number))")
    }
    return .connectionLost(reason: sentences())
  }
}
