import Synchronization

@testable import Providers

/// A fleet's memory of tokens, as Redis keeps it.
final class FleetOfTests: TokenShare {
  private let state = Mutex<(tokens: [String: SharedToken], agreements: Int)>(([:], 0))

  var agreements: Int { state.withLock { $0.agreements } }
  var keys: [String] { state.withLock { $0.tokens.keys.sorted() } }

  /// What keys that expire do.
  func forget() { state.withLock { $0.tokens.removeAll() } }

  func agree(
    key: String, proposal: SharedToken, refused: SharedToken?, lifeMs: Int64
  ) async throws(CredentialError) -> SharedToken {
    state.withLock { state in
      if let token = state.tokens[key], token != refused { return token }
      // A life of a moment is how a turn is given back.
      state.tokens[key] = lifeMs > 1 ? proposal : nil
      state.agreements += 1
      return proposal
    }
  }

  func current(key: String) async throws(CredentialError) -> SharedToken? {
    state.withLock { $0.tokens[key] }
  }
}
