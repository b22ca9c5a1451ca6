internal import Model
internal import Redis
internal import Store

/// Reads what a job needs to know of each receiver: an installation's language and what the job's filter asks of it, its
/// badge, a user's values; loop-bound.
struct ReceiverReader {
  let store: ShardStore
  /// Under which name the lane owns its chunks.
  let consumer: String
  /// Where time zones are noted that are none.
  let reasons: ReasonLog

  /// An installation that a push is to be made for; borrowed.
  struct Receiver {
    let network: Network
    let environment: PushEnvironment
    let token: UnsafeRawBufferPointer
    let user: UnsafeRawBufferPointer
    /// Whether it was tried before, or is what is left of a user. It stays in its round of the job then, whatever its
    /// time zone is now.
    let isChosen: Bool
    /// The request for its badge; nil where the job raises none.
    let badge: BadgeStore.Receiver.Request?
  }

  /// The properties that are a push's own.
  struct Own {
    enum Badge: Equatable {
      case none
      case number(Int32)
      /// The token is another user's by now.
      case rebound

      /// 0 for none.
      var number: Int32 { if case .number(let number) = self { number } else { 0 } }
    }

    /// Which of the job's `MessageVariants` it is sent as.
    var variant: UInt8 = 0
    var badge = Badge.none
    /// Why nothing is sent to the installation now, and it gets no badge; nil when something is.
    var exclusion: Exclusion?
  }

  /// The reason why an installation does not receive.
  enum Exclusion {
    /// The installation counts as skipped.
    case skipped(TraceCause)
    /// The installation counts in another round of the job.
    case otherRound
    /// Nothing can be made for it: the text is too long with its user's values, or lacks one.
    case unsendable
  }

  /// - Parameter canSend: whether anything can be made for a receiver, by its position and its variant of the text; asked of
  ///   those who would get a badge, for nobody's badge is raised by a push that is never sent.
  /// - Returns: nil when the chunk is another worker's by now.
  func read(
    _ run: PushRun, _ receivers: [Receiver], canSend: (Int, UInt8) -> Bool = { _, _ in true }
  ) async throws(RedisError) -> [Own]? {
    var own = Array(repeating: Own(), count: receivers.count)
    if !run.material.receivers.recordFields.isEmpty {
      try await readRecords(run, receivers, &own)
    } else if let filter = run.material.receivers.filter {
      for (index, receiver) in receivers.enumerated() {
        guard !filter.admits(receiver.network, receiver.environment, { _ in nil }) else { continue }
        own[index].exclusion = .skipped(.filtered)
      }
    }
    if run.material.raisesBadge {
      for index in receivers.indices
      where receivers[index].badge == .give && own[index].exclusion == nil {
        if !canSend(index, own[index].variant) { own[index].exclusion = .unsendable }
      }
      guard try await giveBadges(run, receivers, &own) else { return nil }
    }
    return own
  }

  private func readRecords(
    _ run: PushRun, _ receivers: [Receiver], _ own: inout [Own]
  ) async throws(RedisError) {
    let material = run.material
    // The language and the zone stand before what the filter looks at.
    let languages = material.variants.hasLanguages ? 1 : 0
    let zones = material.receivers.zones == nil ? 0 : 1
    var found = own
    let tokens = receivers.map { (network: $0.network, token: $0.token) }
    let count = max(StoreLimits.fieldValuesMax / material.receivers.recordFields.count, 1)
    for first in stride(from: 0, to: tokens.count, by: count) {
      try await store.installations.fields(
        material.receivers.recordFields, app: run.claim.app,
        of: tokens[first..<min(first + count, tokens.count)]
      ) { index, value in
        if languages > 0 { found[index].variant = value(0).map(material.variant) ?? 0 }
        if let matcher = material.receivers.zones, !receivers[index].isChosen,
          let exclusion = exclusion(matcher, value(languages), run)
        {
          found[index].exclusion = exclusion
          return
        }
        guard let filter = material.receivers.filter else { return }
        let (network, environment) = (receivers[index].network, receivers[index].environment)
        if !filter.admits(network, environment, { value(languages + zones + $0) }) {
          found[index].exclusion = .skipped(.filtered)
        }
      }
    }
    own = found
  }

  private func exclusion(
    _ zones: ZoneMatcher, _ zone: UnsafeRawBufferPointer?, _ run: PushRun
  ) -> Exclusion? {
    let match = zones.match(zone) { unknown in
      let name = FieldPointer.printable(String(decoding: unknown, as: UTF8.self))
      reasons.note(
        "\(run.claim.app): installations have the time zone \(name), which is not known: jobs with "
          + "deliver_local treat them as without one; correct time_zone, or update tzdata")
    }
    return switch match {
    case .now: nil
    case .otherRound: .otherRound
    case .missed: .skipped(.missedTime)
    case .unknown: .skipped(.noTimeZone)
    }
  }

  /// - Returns: false when the chunk is another worker's by now.
  private func giveBadges(
    _ run: PushRun, _ receivers: [Receiver], _ own: inout [Own]
  ) async throws(RedisError) -> Bool {
    var wanted: [Int] = []
    var asked: [BadgeStore.Receiver] = []
    var found = own
    for (index, receiver) in receivers.enumerated() {
      guard let request = receiver.badge, own[index].exclusion == nil else { continue }
      wanted.append(index)
      asked.append(
        BadgeStore.Receiver(
          network: receiver.network, token: receiver.token, user: receiver.user, request: request))
      if request != .recall { found[index].badge = .rebound }
    }
    for first in stride(from: 0, to: asked.count, by: StoreLimits.badgesMax) {
      let part = asked[first..<min(first + StoreLimits.badgesMax, asked.count)]
      let isOurs = try await store.badges.give(
        run.claim, consumer: consumer, to: part
      ) { found[wanted[$0]].badge = .number($1) }
      guard isOurs else { return false }
    }
    own = found
    return true
  }

  /// Reads the values of users.
  /// - Parameters:
  ///   - users: borrowed.
  ///   - arena: where what is read is copied to.
  func readValues(
    _ run: PushRun, _ users: [UnsafeRawBufferPointer], into arena: ByteArena,
    _ finish: @escaping (Result<[UserValues], RedisError>) -> Void
  ) {
    guard !run.material.variants.placeholders.isEmpty else {
      return finish(.success(Array(repeating: .notNeeded, count: users.count)))
    }
    switch run.material.content.variables {
    case nil: finish(.success(Array(repeating: .notNeeded, count: users.count)))
    case .given(let given):
      finish(.success(users.map { .given(Variables.values(of: $0, in: given) ?? [:]) }))
    case .key(let key):
      var values = Array(repeating: UserValues.given([:]), count: users.count)
      store.variables.resolve(key, of: users) { index, found in
        switch found {
        case .nothing: break
        case .json(let json): values[index] = .json(arena.copy(json))
        case .tooLong: values[index] = .unreadable
        }
      } _: { result in
        finish(
          result.map { isReadable in
            isReadable ? values : Array(repeating: .noHash, count: users.count)
          })
      }
    }
  }
}
