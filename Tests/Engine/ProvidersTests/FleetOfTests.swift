import Synchronization

@testable import Providers

/// A fleet's memory of tokens, as Redis keeps it.
final class FleetOfTests: TokenShare {
  private struct Memory {
    var tokens: [String: (token: SharedToken, endMs: Int64)] = [:]
    var agreements = 0
    var isAway = false
  }

  private let memory = Mutex(Memory())
  private let clock: TestClock?

  /// - Parameter clock: by which tokens end; nil for tokens that stay.
  init(_ clock: TestClock? = nil) { self.clock = clock }

  var agreements: Int { memory.withLock { $0.agreements } }
  var keys: [String] { memory.withLock { $0.tokens.keys.sorted() } }

  /// Cannot be asked from now on, or can again.
  func setAway(_ isAway: Bool) { memory.withLock { $0.isAway = isAway } }

  /// What keys that expire do.
  func forget() { memory.withLock { $0.tokens.removeAll() } }

  /// How long the token of a key stays.
  func lifeMs(key: String) -> Int64? {
    memory.withLock { $0.tokens[key].map { $0.endMs - nowMs } }
  }

  private var nowMs: Int64 { clock?.nowMs ?? 0 }

  func agree(
    key: String, proposal: SharedToken, refused: SharedToken?, lifeMs: Int64
  ) async throws(CredentialError) -> SharedToken {
    try memory.withLock { (memory) throws(CredentialError) in
      try Self.checkPresence(memory, nowMs)
      if let known = memory.tokens[key], known.endMs > nowMs, known.token != refused {
        return known.token
      }
      // A life of a moment is how a turn is given back.
      memory.tokens[key] = lifeMs > 1 ? (proposal, nowMs + lifeMs) : nil
      memory.agreements += 1
      return proposal
    }
  }

  func current(key: String) async throws(CredentialError) -> SharedToken? {
    try memory.withLock { (memory) throws(CredentialError) in
      try Self.checkPresence(memory, nowMs)
      return memory.tokens[key].flatMap { $0.endMs > nowMs ? $0.token : nil }
    }
  }

  private static func checkPresence(_ memory: Memory, _ nowMs: Int64) throws(CredentialError) {
    if memory.isAway {
      throw CredentialError(reason: "the fleet is away", resumeAtMs: nowMs + 1_000)
    }
  }
}
