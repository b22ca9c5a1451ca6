package import PushpoolConfiguration
import Reactor

/// Basic authorisation by app key and master secret, which nothing renews
/// (docs.jiguang.cn/jpush/server/push/server_overview, "鉴权方式").
package struct JPushCredentialSource: CredentialSource {
  private let credential: Credential
  private let appKey: String
  private let place: SecretPlace
  private let clock: WallClock
  private let pause = CredentialPause()

  /// - Parameter place: where the secret came from, for messages.
  package init(
    appKey: String, secret: Secret, place: SecretPlace, clock: WallClock = .system
  ) {
    credential = Credential(
      header: "Basic " + Base64.text(of: Array("\(appKey):\(secret.text)".utf8)), generation: 0,
      expiresAtMs: .max, refreshAtMs: .max)
    self.appKey = appKey
    self.place = place
    self.clock = clock
  }

  package func current() async throws(CredentialError) -> Credential {
    if let error = pause.error(nowMs: clock.nowMs()) { throw error }
    return credential
  }

  package func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential {
    let (secret, remedy) =
      switch place {
      case .file(let path): ("the master secret of \(path)", "correct app_key or the file")
      case .redis: ("its master secret", "correct app_key or master_secret (pushpool app set)")
      }
    throw pause.begin(
      because: "JPush refuses app key \(appKey) with \(secret): \(reason); \(remedy), which "
        + "workers take by themselves, or look at the app in JPush's console",
      nowMs: clock.nowMs())
  }
}
