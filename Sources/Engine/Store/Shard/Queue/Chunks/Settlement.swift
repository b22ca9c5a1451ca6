package import Model

/// The changes of a chunk since it was last settled.
///
/// A line is done when it has an outcome in `counts`, stands in `invalidations`, is part of a residual, or is a
/// user for whom all of that is true of every installation but those in `stillOpen`. Each outcome is given once.
package struct Settlement: Sendable {
  /// Recipients to be tried again later, as `InstallationLine`s; they stay pending.
  package struct Residual: Sendable {
    package var delayMs: UInt64
    /// Whether they may come back with those of other settlements.
    package var joins: Bool
    package var lines: [UInt8]

    package init(delayMs: UInt64, joins: Bool = false, lines: [UInt8]) {
      self.delayMs = delayMs
      self.joins = joins
      self.lines = lines
    }
  }

  /// Installations of a network and environment that the caller has no credentials for, as `InstallationLine`s: they wait
  /// for a worker that has, or count as skipped if there is none.
  package struct Unrouted: Sendable {
    package var network: Network
    package var environment: PushEnvironment
    package var lines: [UInt8]

    package init(network: Network, environment: PushEnvironment, lines: [UInt8]) {
      self.network = network
      self.environment = environment
      self.lines = lines
    }

    package var place: String { RouteTable.place(network, environment) }
  }

  /// A token that its network called invalid: removed, if the binding is still the one that was tried and no mass
  /// death is assumed, and then counted as uninstalled; otherwise counted as rejected.
  package struct Invalidation: Sendable {
    package var network: Network
    /// The environment that the installation is for, as it stood when the push was sent.
    package var environment: PushEnvironment
    package var token: String
    package var user: String
    package var generation: UInt64
    /// When the network says that the token died (APNs 410), if it says so.
    package var sinceMs: Int64?
    package var reason: String

    package init(
      network: Network, environment: PushEnvironment = .production, token: String, user: String,
      generation: UInt64, sinceMs: Int64?, reason: String
    ) {
      self.network = network
      self.environment = environment
      self.token = token
      self.user = user
      self.generation = generation
      self.sinceMs = sinceMs
      self.reason = reason
    }
  }

  /// A token that the network calls bad in its own environment and has accepted in this one: its
  /// installation is corrected, if the binding is still the one that was tried.
  package struct Relabelling: Sendable {
    package var network: Network
    package var token: String
    package var user: String
    package var generation: UInt64
    package var environment: PushEnvironment

    package init(
      network: Network, token: String, user: String, generation: UInt64,
      environment: PushEnvironment
    ) {
      self.network = network
      self.token = token
      self.user = user
      self.generation = generation
      self.environment = environment
    }
  }

  /// A network's answers about installations for one environment. They serve to judge whether a mistake of ours makes
  /// tokens look dead.
  package struct Tally: Sendable, Equatable {
    package var network: Network
    package var environment: PushEnvironment
    package var answers: Int
    /// Answers that say that token and environment, topic or sender do not fit each other.
    package var misfits: Int

    package init(network: Network, environment: PushEnvironment, answers: Int, misfits: Int) {
      self.network = network
      self.environment = environment
      self.answers = answers
      self.misfits = misfits
    }
  }

  /// The chunk is finished: every line is done.
  package var isFinal = false
  /// All that is left of the chunk waits for answers, and has for a while: its job goes on beside it.
  package var onlyWaits = false
  /// All done lines, those of earlier settlements included. Not looked at when final.
  package var done = DoneBitmap()
  /// The lines that the caller told as done before, or found done when it claimed the chunk: another bitmap in the
  /// store means that somebody else had the chunk in between. Nil to not compare.
  package var told: DoneBitmap?
  /// New outcomes by network. `uninstalled` comes from `invalidations`; `retries` and `noInstallations` are the
  /// chunk's own properties below.
  package var counts: [Network: OutcomeCounts] = [:]
  /// New skips of recipients whose installations were never read, so that no network is known.
  package var skippedUnread = 0
  package var residuals: [Residual] = []
  /// Installations of users that are done without them, as `InstallationLine`s: they become the chunk's last lines, in
  /// this order, and the caller goes on with them.
  package var stillOpen: [UInt8] = []
  package var unrouted: [Unrouted] = []
  /// How long those wait for a worker.
  package var unroutedMs: UInt64 = 600_000
  package var invalidations: [Invalidation] = []
  package var relabellings: [Relabelling] = []
  package var tallies: [Tally] = []
  package var retries = 0
  /// New users without an installation.
  package private(set) var noInstallations = 0
  /// By how much the number of installations turned out larger than the number of users.
  package private(set) var totalDelta = 0

  package init() {}

  /// A user is done, who stood in the job's total as one and had so many installations that are now counted,
  /// invalidated or in a residual.
  package mutating func resolveUser(installations: Int) {
    totalDelta += installations - 1
    if installations == 0 { noInstallations += 1 }
  }

  /// A recipient is done, who stood in the job's total as one and is no part of this round of it.
  package mutating func leaveOut() { totalDelta -= 1 }

  /// Whether it says no more than how many pushes came to which outcome, and none was given up.
  package var isPlain: Bool {
    isFinal && residuals.isEmpty && unrouted.isEmpty && stillOpen.isEmpty
      && invalidations.isEmpty && relabellings.isEmpty && retries == 0
      && counts.values.allSatisfy { $0.failed == 0 }
      && tallies.allSatisfy { $0.answers >= 0 && $0.misfits == 0 }
  }

  /// Whether nothing became of any recipient.
  package var isEmpty: Bool {
    !isFinal && counts.isEmpty && skippedUnread == 0 && residuals.isEmpty && unrouted.isEmpty
      && stillOpen.isEmpty && invalidations.isEmpty && retries == 0
      && noInstallations == 0 && totalDelta == 0
  }
}
