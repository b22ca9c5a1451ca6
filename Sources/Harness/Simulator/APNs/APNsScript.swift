internal import Model

/// How the simulated APNs misbehaves.
package struct APNsScript: Sendable, Equatable {
  /// How long a team must keep a provider token; 0 switches the check off.
  package var providerTokenIntervalSeconds = SimulatorLimits.providerTokenIntervalSeconds
  /// The beginning of the tokens that belong to the development environment, the others to production; the wrong listener
  /// answers BadDeviceToken. Nil: every token belongs to both.
  package var developmentTokenPrefix: String?
}

extension APNsScript {
  static let fieldNames = ["provider_token_interval_seconds", "development_token_prefix"]
  static let help = [
    "provider_token_interval_seconds       1200; 0 lets provider tokens change at will",
    "development_token_prefix              tokens of the development environment",
  ]

  init(_ fields: ScriptFields) throws(InvalidField) {
    providerTokenIntervalSeconds =
      try fields.integer("provider_token_interval_seconds", in: 0...86_400)
      ?? SimulatorLimits.providerTokenIntervalSeconds
    developmentTokenPrefix = try fields.text("development_token_prefix")
  }
}

extension SimulatorScript {
  /// `APNsScript.providerTokenIntervalSeconds`.
  package var providerTokenIntervalSeconds: Int64 {
    get { networks.apns.providerTokenIntervalSeconds }
    set { networks.apns.providerTokenIntervalSeconds = newValue }
  }

  /// `APNsScript.developmentTokenPrefix`.
  package var developmentTokenPrefix: String? {
    get { networks.apns.developmentTokenPrefix }
    set { networks.apns.developmentTokenPrefix = newValue }
  }
}
