/// The bearer tokens that the OAuth endpoint issued and FCM accepts.
struct BearerTokens {
  struct Grant {
    let projectID: String
    fileprivate let expiresAtSeconds: Int64
    /// How many times all tokens had been revoked when it was issued.
    fileprivate let revocations: Int
  }

  private var grants: [[UInt8]: Grant] = [:]
  private var order: [[UInt8]] = []
  private var next = 0
  private var revocations = 0
  private var random = SystemRandomNumberGenerator()

  mutating func issue(projectID: String, nowSeconds: Int64, lifetimeSeconds: Int64) -> String {
    let token =
      "ya29.simulated-" + String(random.next(), radix: 36) + String(random.next(), radix: 36)
    let text = Array(token.utf8)
    if order.count < SimulatorLimits.bearerTokensMax {
      order.append(text)
    } else {
      grants[order[next]] = nil
      order[next] = text
      next = (next + 1) % order.count
    }
    grants[text] = Grant(
      projectID: projectID, expiresAtSeconds: nowSeconds + lifetimeSeconds,
      revocations: revocations)
    return token
  }

  /// Takes back every token that was issued so far.
  mutating func revokeAll() { revocations += 1 }

  /// Whether a grant has neither expired nor been revoked.
  func isValid(_ grant: Grant, nowSeconds: Int64) -> Bool {
    nowSeconds < grant.expiresAtSeconds && grant.revocations == revocations
  }

  /// The grant behind the value of an `authorization` header; nil when there is none.
  func grant(for authorization: UnsafeRawBufferPointer) -> Grant? {
    guard authorization.starts(with: "Bearer ") || authorization.starts(with: "bearer "),
      authorization.count <= SimulatorLimits.authorizationBytesMax
    else { return nil }
    return grants[[UInt8](authorization.dropping(7))]
  }
}
