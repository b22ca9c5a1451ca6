internal import Model

/// Holds one round of a job against the time zones of installations.
struct ZoneMatcher {
  enum Match: Equatable {
    /// The installation receives the job now.
    case now
    /// The installation receives it in another round, or was told of in another that it does not.
    case otherRound
    /// The installation never receives it, for its time had passed.
    case missed
    /// The installation never receives it, for its zone is not known.
    case unknown
  }

  /// When the round starts; epoch milliseconds.
  let atMs: Int64
  private let arena: ByteArena
  /// Every zone of the job, in the order of their bytes; the round nil for one whose time had passed.
  private let zones: [(name: UnsafeRawBufferPointer, round: Int?)]
  private let round: Int
  private let roundWithoutZone: Int?

  /// - Parameter round: a position in the schedule's rounds; another holds no zones.
  init(_ schedule: LocalSchedule, round: Int) {
    self.round = round
    roundWithoutZone = schedule.roundWithoutZone
    atMs = schedule.rounds.indices.contains(round) ? schedule.rounds[round].atMs : 0
    let arena = ByteArena()
    var zones: [(name: UnsafeRawBufferPointer, round: Int?)] = []
    func add(_ names: [String], _ round: Int?) {
      for var name in names {
        zones.append((name.withUTF8 { arena.copy(UnsafeRawBufferPointer($0)) }, round))
      }
    }
    for (number, round) in schedule.rounds.enumerated() { add(round.zones, number) }
    add(schedule.missed, nil)
    self.arena = arena
    self.zones = zones.sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }

  /// The content with its time to live counted from the start of the round.
  func counted(_ content: JobContent, createdAtMs: Int64) -> JobContent {
    guard let expiry = content.expiry, expiry != .ttl(seconds: 0) else { return content }
    var content = content
    content.expiry = .at(ms: expiry.expiresAtMs(createdAtMs: max(atMs, createdAtMs)))
    return content
  }

  /// Whether it is the job's first.
  var isFirst: Bool { round == 0 }

  /// - Parameters:
  ///   - zone: as the installation's record holds it; nil when it has none.
  ///   - unknown: told once of a zone that is none.
  func match(
    _ zone: UnsafeRawBufferPointer?, unknown: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) -> Match {
    guard let zone, let known = entry(zone) ?? entryOfOffset(zone) else {
      if round == 0, let zone, !zone.isEmpty { unknown(zone) }
      guard let roundWithoutZone else { return never(.unknown) }
      return roundWithoutZone == round ? .now : .otherRound
    }
    guard let ownRound = known.round else { return never(.missed) }
    return ownRound == round ? .now : .otherRound
  }

  /// Who gets nothing is told of once, in the first round.
  private func never(_ match: Match) -> Match { round == 0 ? match : .otherRound }

  /// By the one name under which a schedule has a clock that never changes.
  private func entryOfOffset(
    _ zone: UnsafeRawBufferPointer
  ) -> (name: UnsafeRawBufferPointer, round: Int?)? {
    guard var name = FixedOffset(zone)?.name else { return nil }
    return name.withUTF8 { entry(UnsafeRawBufferPointer($0)) }
  }

  private func entry(
    _ zone: UnsafeRawBufferPointer
  ) -> (name: UnsafeRawBufferPointer, round: Int?)? {
    var (low, high) = (0, zones.count)
    while low < high {
      let middle = (low + high) / 2
      if zones[middle].name.lexicographicallyPrecedes(zone) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < zones.count, zones[low].name.elementsEqual(zone) else { return nil }
    return zones[low]
  }
}
