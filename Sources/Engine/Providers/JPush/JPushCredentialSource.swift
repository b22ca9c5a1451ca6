package import PushpoolConfiguration
import Reactor

/// Basic authorisation by app key and master secret, which nothing renews
/// (docs.jiguang.cn/jpush/server/push/server_overview, "鉴权方式").
package struct JPushCredentialSource: CredentialSource {
  private let credential: Credential
  private let appKey: String
  private let file: String
  private let clock: WallClock
  private let pause = CredentialPause()

  /// - Parameter file: where the secret came from, for messages.
  package init(appKey: String, secret: Secret, file: String, clock: WallClock = .system) {
    credential = Credential(
      header: "Basic " + Base64.text(of: Array("\(appKey):\(secret.text)".utf8)), generation: 0,
      expiresAtMs: .max, refreshAtMs: .max)
    self.appKey = appKey
    self.file = file
    self.clock = clock
  }

  package func current() async throws(CredentialError) -> Credential {
    if let error = pause.error(nowMs: clock.nowMs()) { throw error }
    return credential
  }

  package func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential {
    throw pause.begin(
      because: "JPush refuses app key \(appKey) with the master secret of \(file): \(reason); "
        + "correct app_key or the file, which workers take by themselves, or look at the app in "
        + "JPush's console", nowMs: clock.nowMs())
  }
}
