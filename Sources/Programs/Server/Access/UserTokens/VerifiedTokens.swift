internal import COpenSSL
internal import Synchronization

/// User tokens whose signatures were verified lately: the next request of a phone costs no verification. It keeps digests
/// and not the tokens. The instants of a token are looked at with each request.
final class VerifiedTokens: Sendable {
  private typealias Table = [[UInt8]: UserToken]

  private struct State {
    var recent: Table = [:]
    /// The table before that. It goes as a whole, so that nothing is ever searched for what is old.
    var former: Table = [:]
    var turnedAtMs: UInt64 = 0

    mutating func turn(_ nowMs: UInt64, isDue: Bool = false) {
      let ageMs = nowMs > turnedAtMs ? nowMs - turnedAtMs : 0
      guard isDue || ageMs >= ServerLimits.userTokenKeptMs / 2 else { return }
      former = ageMs >= ServerLimits.userTokenKeptMs ? [:] : recent
      recent = [:]
      turnedAtMs = nowMs
    }
  }

  private let state = Mutex(State())
  private let steadyMs: @Sendable () -> UInt64
  private let tokensMax: Int

  init(clock: AccessClock, tokensMax: Int = ServerLimits.userTokensRememberedMax) {
    steadyMs = clock.steadyMs
    self.tokensMax = tokensMax
  }

  /// The token of a text that was verified at most `ServerLimits.userTokenKeptMs` ago; nil for one that is not known.
  func recall(_ text: String) -> UserToken? {
    guard let digest = Self.digest(text) else { return nil }
    let nowMs = steadyMs()
    return state.withLock { state in
      state.turn(nowMs)
      return state.recent[digest] ?? state.former[digest]
    }
  }

  /// Remembers a token that was verified.
  func remember(_ token: UserToken, as text: String) {
    guard let digest = Self.digest(text) else { return }
    let nowMs = steadyMs()
    state.withLock { state in
      state.turn(nowMs, isDue: state.recent.count >= tokensMax / 2)
      state.recent[digest] = token
    }
  }

  /// SHA-256; nil for a text that is too long for a token, and when OpenSSL cannot.
  private static func digest(_ text: String) -> [UInt8]? {
    let bytes = Array(text.utf8)
    guard bytes.count <= ServerLimits.userTokenBytesMax else { return nil }
    var digest = [UInt8](repeating: 0, count: 32)
    let isDone = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1
    ERR_clear_error()
    return isDone ? digest : nil
  }
}
