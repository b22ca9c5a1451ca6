internal import Model

/// How the simulated JPush misbehaves.
package struct JPushScript: Sendable, Equatable {
  /// How many calls an app key has in a minute.
  package var callsPerMinute = SimulatorLimits.jpushCallsPerMinute
}

extension JPushScript {
  static let fieldNames = ["jpush_calls_per_minute"]
  static let help = [
    "jpush_calls_per_minute                of an app key; more are refused with 2002"
  ]

  init(_ fields: ScriptFields) throws(InvalidField) {
    callsPerMinute =
      try fields.count("jpush_calls_per_minute") ?? SimulatorLimits.jpushCallsPerMinute
  }
}

extension SimulatorScript {
  /// `JPushScript.callsPerMinute`.
  package var jpushCallsPerMinute: Int {
    get { networks.jpush.callsPerMinute }
    set { networks.jpush.callsPerMinute = newValue }
  }
}
