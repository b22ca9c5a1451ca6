/// Looks at what dead workers left behind until others have taken all of it over.
actor RecoveryWatch {
  private struct Wait {
    let member: Fleet.Member
    let since: ContinuousClock.Instant
  }

  private let stage: ChaosStage
  private var waits: [Wait] = []
  /// The longest that anything stayed behind.
  private(set) var longestSeconds = 0.0

  init(_ stage: ChaosStage) {
    self.stage = stage
  }

  /// A member is dead as of now. - Returns: how many chunks it left.
  func add(_ member: Fleet.Member) async -> Int {
    waits.append(Wait(member: member, since: .now))
    return await stage.chunksInHand().reduce(0) {
      $0 + (member.owns(consumer: $1.key) ? $1.value : 0)
    }
  }

  /// Looks again and again until `isEnough` and nothing is left behind, or patience ends.
  func watch(until isEnough: Notice, patienceSeconds: Double) async throws {
    while !isEnough.isRaised || !waits.isEmpty {
      try await ChaosStage.pause(ms: ChaosLimits.pollMs)
      guard !waits.isEmpty else { continue }
      let chunks = await stage.pending("chunks")
      let jobs = await stage.pending("jobs")
      let left = chunks.merging(jobs) { $0 + $1 }.filter { $0.value > 0 }.keys
      waits.removeAll { wait in
        let seconds = (ContinuousClock.now - wait.since) / .seconds(1)
        if left.contains(where: { wait.member.owns(consumer: $0) }), seconds < patienceSeconds {
          return false
        }
        longestSeconds = max(longestSeconds, seconds)
        return true
      }
    }
  }
}
