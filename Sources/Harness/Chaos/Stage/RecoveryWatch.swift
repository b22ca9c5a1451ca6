/// Looks at what dead or frozen workers had in hand until others have taken all of it over.
actor RecoveryWatch {
  private struct Wait {
    let member: Fleet.Member
    let since: ContinuousClock.Instant
    /// The work that it had in hand and nobody has taken over yet, stream and entry.
    var left: Set<String>
  }

  private let stage: ChaosStage
  private var waits: [Wait] = []
  /// The longest that anything stayed behind.
  private(set) var longestSeconds = 0.0

  init(_ stage: ChaosStage) {
    self.stage = stage
  }

  /// Whether nothing is left behind, as far as it was looked at.
  var isOver: Bool { waits.isEmpty }

  /// A member works no more as of now. - Returns: how many chunks it left, and jobs that it sent from their entries.
  func add(_ member: Fleet.Member) async -> Int {
    let since = ContinuousClock.now
    let left = Set(await stage.owners().filter { member.owns(consumer: $0.value) }.keys)
    if !left.isEmpty { waits.append(Wait(member: member, since: since, left: left)) }
    return left.count
  }

  /// Looks again and again until `isEnough` and nothing is left behind, or patience ends.
  func watch(until isEnough: Notice, patienceSeconds: Double) async throws {
    while !isEnough.isRaised || !waits.isEmpty {
      try await ChaosStage.pause(ms: ChaosLimits.pollMs)
      guard !waits.isEmpty else { continue }
      let owners = await stage.owners()
      waits = waits.compactMap { wait in
        var wait = wait
        wait.left = wait.left.filter { wait.member.owns(consumer: owners[$0] ?? "") }
        let seconds = (ContinuousClock.now - wait.since) / .seconds(1)
        if !wait.left.isEmpty, seconds < patienceSeconds { return wait }
        longestSeconds = max(longestSeconds, seconds)
        return nil
      }
    }
  }
}
