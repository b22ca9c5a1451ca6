extension ChaosStage {
  /// How many duplicates the loss of a worker explains that had so much in hand: of a campaign what was in flight, and of each
  /// chunk what was not settled; of jobs of one user each one.
  func duplicates(ofLost chunks: Int) -> Int {
    trial.isOfSmallJobs ? chunks : options.inFlightMax + chunks * ChaosLimits.unsettledPerChunk
  }

  /// Has something done to workers under load, watches what they leave behind until others have taken it over and
  /// every job has ended, and says in the result what came of it.
  /// - Parameters:
  ///   - limitSeconds: how long anything may stay behind.
  ///   - strikes: keeps up the load and tells the watch of each worker that works no more. Returns how many
  ///     duplicates that explains.
  func judgeTakeover(
    within limitSeconds: Double, _ result: inout RowResult,
    _ strikes: (RecoveryWatch) async throws -> Int
  ) async throws {
    let watch = RecoveryWatch(self)
    let isEnough = Notice()
    let watching = Task {
      try await watch.watch(until: isEnough, patienceSeconds: limitSeconds * 4)
    }
    defer { watching.cancel() }
    let allowed = try await strikes(watch)
    let records = try await drain()
    isEnough.raise()
    try await watching.value
    let reckoning = try reckon(records)
    result.take(reckoning, duplicatesMax: allowed)
    result.expectAllAccepted(reckoning)
    result.noteRecovery(await watch.longestSeconds)
    result.expectRecovery(within: limitSeconds)
  }
}
