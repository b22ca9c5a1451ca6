import Model

/// Chunks that went to another worker while the one that had them lived on, as the workers' logs tell.
///
/// Both sides speak of it: who takes a chunk over, and who hears STALE of it later. Either happens for other
/// reasons, too: a claim whose reply got lost is taken over, and a final settlement that is repeated because
/// its reply got lost is STALE. So the smaller of the two numbers is at least that of the lost leases.
struct LostLeases: Sendable {
  /// The line of a worker's log when it takes over a chunk.
  private static let takenOverLine = "took over a chunk from a worker that fell silent"
  /// The mark that this line has besides when the worker that had the chunk still beats: it cannot have been kept from
  /// Redis, and never heard of the chunk, or it should have renewed its lease.
  private static let unheardMark = #""crashes":"0""#

  /// At most so many leases were lost.
  let count: Int

  /// - Parameters:
  ///   - fleet: one of which nobody was killed.
  ///   - outlasted: whether all were kept from Redis for longer than a lease. Else only workers that did not beat
  ///     for that long are taken to have lost one.
  init(_ fleet: Fleet, outlasted: Bool) async {
    let takenOver = await fleet.logLines(with: Self.takenOverLine)
    let unheard = await fleet.logLines(with: Self.unheardMark)
    let stale = await fleet.logLines(with: FreezeRow.staleLine)
    count = min(outlasted ? takenOver : takenOver - unheard, stale)
  }

  /// Duplicates that they explain: a lane that is kept from Redis can settle nothing, so all of a chunk at worst.
  var duplicatesMax: Int { count * Limits.chunkRecipientsMax }
}
