internal import Model

/// How the simulated FCM and its token endpoint misbehave.
package struct FCMScript: Sendable, Equatable {
  /// Whether the bearer tokens that were issued before this script came are refused from now on.
  package var revokesBearerTokens = false
  /// How long an issued bearer token lives.
  package var bearerLifetimeSeconds = SimulatorLimits.bearerLifetimeSeconds
  /// How many messages a second a project may have; nil for as many as come. The others are answered with 429.
  package var requestsPerSecond: Int?
}

extension FCMScript {
  static let fieldNames = [
    "bearer_lifetime_seconds", "revoke_bearer_tokens", "fcm_requests_per_second",
  ]
  static let help = [
    "bearer_lifetime_seconds               3600",
    "revoke_bearer_tokens                  false",
    "fcm_requests_per_second               of a project; more are answered with 429",
    "                                      RESOURCE_EXHAUSTED, QUOTA_EXCEEDED",
  ]

  init(_ fields: ScriptFields) throws(InvalidField) {
    revokesBearerTokens = try fields.flag("revoke_bearer_tokens") ?? false
    bearerLifetimeSeconds =
      try fields.integer("bearer_lifetime_seconds", in: 1...86_400)
      ?? SimulatorLimits.bearerLifetimeSeconds
    requestsPerSecond = try fields.count("fcm_requests_per_second")
  }
}

extension SimulatorScript {
  /// `FCMScript.revokesBearerTokens`.
  package var revokesBearerTokens: Bool {
    get { networks.fcm.revokesBearerTokens }
    set { networks.fcm.revokesBearerTokens = newValue }
  }

  /// `FCMScript.bearerLifetimeSeconds`.
  package var bearerLifetimeSeconds: Int64 {
    get { networks.fcm.bearerLifetimeSeconds }
    set { networks.fcm.bearerLifetimeSeconds = newValue }
  }

  /// `FCMScript.requestsPerSecond`.
  package var fcmRequestsPerSecond: Int? {
    get { networks.fcm.requestsPerSecond }
    set { networks.fcm.requestsPerSecond = newValue }
  }
}
