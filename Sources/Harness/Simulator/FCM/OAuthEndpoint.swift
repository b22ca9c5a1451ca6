internal import Model

/// Google's token endpoint: exchanges a service account's assertion for a bearer token
/// (RFC 7523; developers.google.com, "Using OAuth 2.0 for server to server applications").
struct OAuthEndpoint {
  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

  private let accounts: [String: ServiceAccount]
  private(set) var tokens = BearerTokens()
  var lifetimeSeconds = SimulatorLimits.bearerLifetimeSeconds

  init(accounts: [ServiceAccount]) {
    self.accounts = Dictionary(
      accounts.map { ($0.clientEmail, $0) }, uniquingKeysWith: { _, last in last })
  }

  /// Whether FCM requests need a bearer token from here: when there is an account to get one with.
  var isRequired: Bool { !accounts.isEmpty }

  /// Takes back every token that was issued so far.
  mutating func revokeTokens() { tokens.revokeAll() }

  /// Answers one exchange.
  mutating func answer(
    method: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer, nowSeconds: Int64
  ) -> Answer {
    do throws(OAuthError) {
      guard method.equals("POST") else {
        throw OAuthError(status: 405, code: "invalid_request", message: "Use POST")
      }
      let account = try verify(FormFields(body), nowSeconds: nowSeconds)
      let token = tokens.issue(
        projectID: account.projectID, nowSeconds: nowSeconds, lifetimeSeconds: lifetimeSeconds)
      let object: JSONObject = [
        "access_token": .string(token), "expires_in": .integer(lifetimeSeconds - 1),
        "token_type": .string("Bearer"),
      ]
      return Answer(status: 200, body: JSONValue.object(object).bytes())
    } catch {
      return error.answer
    }
  }

  private func verify(_ form: FormFields, nowSeconds: Int64) throws(OAuthError) -> ServiceAccount {
    guard form["grant_type"] == Self.grantType else {
      throw OAuthError(
        code: "unsupported_grant_type", message: "Invalid grant_type: \(form["grant_type"] ?? "")")
    }
    guard let assertion = form["assertion"], !assertion.isEmpty else {
      throw OAuthError(code: "invalid_request", message: "Missing required parameter: assertion")
    }
    let compact = Array(assertion.utf8)
    guard let token = compact.withUnsafeBytes({ JSONWebToken(compact: $0) }),
      token.algorithm == "RS256"
    else { throw OAuthError(code: "invalid_grant", message: "Invalid JWT: not an RS256 token") }
    guard let account = accounts[token.issuer] else {
      throw OAuthError(code: "invalid_grant", message: "Invalid grant: account not found")
    }
    let isSigned = compact.withUnsafeBytes {
      account.key.verifiesRS256(token.signature, of: $0.taking(0..<token.signedLength))
    }
    guard isSigned else {
      throw OAuthError(code: "invalid_grant", message: "Invalid JWT Signature.")
    }
    guard let issuedAt = token.issuedAtSeconds, let expiresAt = token.expiresAtSeconds,
      issuedAt <= nowSeconds + SimulatorLimits.clockSkewMaxSeconds,
      expiresAt > nowSeconds, expiresAt - issuedAt <= 3_600
    else {
      throw OAuthError(
        code: "invalid_grant",
        message: "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable "
          + "timeframe. Check your iat and exp values in the JWT claim.")
    }
    guard token.audience.hasSuffix("/token") else {
      throw OAuthError(code: "invalid_grant", message: "Invalid JWT: Failed audience check.")
    }
    guard token.scope.split(separator: " ").contains(Substring(Self.scope)) else {
      throw OAuthError(code: "invalid_scope", message: "Invalid OAuth scope or ID token audience")
    }
    return account
  }
}

/// An error of the token endpoint (RFC 6749, 5.2), with Google's descriptions.
struct OAuthError: Error {
  var status = 400
  let code: String
  let message: String

  var answer: Answer {
    let object: JSONObject = [
      "error": .string(code), "error_description": .string(message),
    ]
    return Answer(status: status, body: JSONValue.object(object).bytes())
  }
}
