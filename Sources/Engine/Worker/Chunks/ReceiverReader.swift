internal import Model
internal import Redis
internal import Store

/// Reads what a job needs to know of each receiver: the language of an installation, its badge, a user's values; loop-bound.
struct ReceiverReader {
  let store: Store
  /// Under which name the lane owns its chunks.
  let consumer: String

  /// An installation that a push is to be made for; borrowed.
  struct Receiver {
    let network: Network
    let token: UnsafeRawBufferPointer
    let user: UnsafeRawBufferPointer
    /// What is asked of its badge; nil where the job raises none.
    let badge: BadgeStore.Receiver.Request?
  }

  /// What a push has of its own.
  struct Own {
    enum Badge: Equatable {
      case none
      case number(Int32)
      /// Its token is another user's by now.
      case rebound

      /// 0 for none.
      var number: Int32 { if case .number(let number) = self { number } else { 0 } }
    }

    /// Which of the job's `MessageVariants` it is sent as.
    var variant: UInt8 = 0
    var badge = Badge.none
  }

  /// - Returns: nil when the chunk is another worker's by now.
  func read(_ run: ChunkRun, _ receivers: [Receiver]) async throws(RedisError) -> [Own]? {
    var own = Array(repeating: Own(), count: receivers.count)
    if run.material.variants.hasLanguages { try await readLanguages(run, receivers, &own) }
    if run.material.raisesBadge {
      guard try await giveBadges(run, receivers, &own) else { return nil }
    }
    return own
  }

  private func readLanguages(
    _ run: ChunkRun, _ receivers: [Receiver], _ own: inout [Own]
  ) async throws(RedisError) {
    var found = own
    let tokens = receivers.map { (network: $0.network, token: $0.token) }
    for first in stride(from: 0, to: tokens.count, by: StoreLimits.languagesMax) {
      let part = tokens[first..<min(first + StoreLimits.languagesMax, tokens.count)]
      try await store.installations.languages(app: run.claim.app, of: part) { index, language in
        found[index].variant = run.material.variant(language: language)
      }
    }
    own = found
  }

  /// - Returns: false when the chunk is another worker's by now.
  private func giveBadges(
    _ run: ChunkRun, _ receivers: [Receiver], _ own: inout [Own]
  ) async throws(RedisError) -> Bool {
    var wanted: [Int] = []
    var asked: [BadgeStore.Receiver] = []
    var found = own
    for (index, receiver) in receivers.enumerated() {
      guard let request = receiver.badge else { continue }
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
    _ run: ChunkRun, _ users: [UnsafeRawBufferPointer], into arena: ByteArena,
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
