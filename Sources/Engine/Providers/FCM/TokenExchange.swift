import HTTP2
import HTTPClient
import Model
import Reactor

/// The exchange of a service account's signed assertion for a bearer token
/// (RFC 7523 section 2.1; developers.google.com, "Using OAuth 2.0 for server to server applications").
struct TokenExchange: Sendable {
  /// Why there is no token, and how long to leave the server alone at least.
  struct Failure: Error {
    let reason: String
    let waitMsMin: Int64
    /// Whether it was the token server's, which is then asked less and less often.
    var isOfServer = true
  }

  static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  /// After a refusal that only a person can cure.
  private static let refusalWaitMs: Int64 = 60_000
  /// Bytes of the server's description of a refusal that are kept.
  private static let descriptionBytesMax = 200

  let account: ServiceAccount
  let client: HTTPClient
  /// Certificates in PEM.
  let authorities: [UInt8]?
  let proxy: ProxyServer?
  let clock: WallClock

  func perform() async throws(Failure) -> SharedToken {
    let nowMs = clock.nowMs()
    let assertion: String
    do throws(CredentialFileError) {
      assertion = try JSONWebToken.make(
        keyID: account.keyID, claims: claims(nowMs: nowMs), key: account.key)
    } catch {
      throw Failure(reason: error.description, waitMsMin: Self.refusalWaitMs)
    }
    let response: HTTPResponse
    do throws(HTTPClientError) {
      response = try await client.perform(request(assertion))
    } catch {
      throw Failure(reason: "cannot get a token for \(name): \(error.message)", waitMsMin: 0)
    }
    return try token(from: response, nowMs: nowMs)
  }

  private var name: String { account.clientEmail }

  private func claims(nowMs: Int64) -> JSONObject {
    let nowSeconds = nowMs / 1_000
    return [
      "iss": .string(account.clientEmail),
      "scope": .string(Self.scope),
      "aud": .string(account.tokenURI),
      "iat": .integer(nowSeconds),
      "exp": .integer(nowSeconds + CredentialLimits.fcmAssertionLifeMs / 1_000),
    ]
  }

  private func request(_ assertion: String) -> HTTPRequest {
    // The assertion is base64url and dots: nothing to escape.
    let form =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    return HTTPRequest(
      method: "POST", url: account.tokenEndpoint,
      headers: [("content-type", "application/x-www-form-urlencoded")], body: Array(form.utf8),
      timeoutMs: CredentialLimits.exchangeTimeoutMs, authorities: authorities, proxy: proxy)
  }

  private func token(
    from response: HTTPResponse, nowMs: Int64
  ) throws(Failure) -> SharedToken {
    let object = (try? JSONParser().parse(response.body))?.objectValue
    guard response.status == 200 else { throw refusal(response, object, nowMs) }
    guard let text = object?["access_token"]?.stringValue,
      !text.isEmpty, text.utf8.count <= CredentialLimits.accessTokenBytesMax,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let lifeSeconds = object?["expires_in"]?.int64Value, lifeSeconds > 0
    else {
      throw Failure(
        reason:
          "\(account.tokenEndpoint) answered 200 without a usable access_token and expires_in",
        waitMsMin: 0)
    }
    let lifeMs = min(lifeSeconds, CredentialLimits.fcmTokenLifeMsMax / 1_000) * 1_000
    return SharedToken(token: text, issuedAtMs: nowMs, lifeMs: lifeMs)
  }

  private func refusal(
    _ response: HTTPResponse, _ object: JSONObject?, _ nowMs: Int64
  ) -> Failure {
    let code = object?["error"]?.stringValue.map { ForeignText.printable($0) }
    let detail = object?["error_description"]?.stringValue.map {
      ForeignText.printable($0, bytesMax: Self.descriptionBytesMax)
    }
    var reason = "\(account.tokenEndpoint) refused a token for \(name): status \(response.status)"
    for part in [code, detail] {
      if let part { reason += ", \(part)" }
    }
    if code == "invalid_grant" {
      reason += "; check that the account's key was not deleted, and \(clock.advice)"
    }
    if response.status == 429 || response.status >= 500 {
      let retryAfter = RetryAfter(
        value: response.header("retry-after"), date: response.header("date"))
      let seconds = Int64(retryAfter.seconds(nowMs: nowMs) ?? 0)
      let waitMs = min(seconds, CredentialLimits.exchangeBackOffMsMax / 1_000) * 1_000
      return Failure(reason: reason, waitMsMin: waitMs)
    }
    // Without a code it is not OAuth's word (RFC 6749, 5.2), but that of something before it.
    return Failure(reason: reason, waitMsMin: code == nil ? 0 : Self.refusalWaitMs)
  }
}
