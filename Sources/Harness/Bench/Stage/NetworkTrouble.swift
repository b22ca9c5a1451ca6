/// What troubles a network that is not down.
struct NetworkTrouble: Sendable {
  static let none = NetworkTrouble("none", [])

  let name: String
  /// Of the simulator's script.
  let members: [String]

  private init(_ name: String, _ members: [String]) {
    self.name = name
    self.members = members
  }

  /// Some answers are 503.
  static func answers(percent: Int) -> NetworkTrouble {
    NetworkTrouble(
      "503-\(percent)",
      [
        #""all": {"status": 503, "reason": "ServiceUnavailable", "#
          + #""retry_after_seconds": \#(BenchLimits.retryAfterSeconds), "#
          + #""probability": \#(Double(percent) / 100)}"#
      ])
  }

  /// Some answers come late, but to marked users.
  static let late = NetworkTrouble(
    "late", slow(#""delay_ms": \#(BenchLimits.lateMs)"#))

  /// As many never come.
  static let silent = NetworkTrouble("silent", slow(#""action": "stall""#))

  private static func slow(_ how: String) -> [String] {
    [
      #""rules": [{"token_prefix": "\#(Population.markPrefix)"}]"#,
      #""all": {\#(how), "probability": \#(Double(BenchLimits.slowPercent) / 100)}"#,
      #""seed": \#(BenchLimits.slowSeed)"#,
    ]
  }

  /// Each connection ends after so many requests, with a GOAWAY that says so.
  static let goAway = NetworkTrouble(
    "goaway", [#""goaway_after": \#(BenchLimits.requestsPerConnection)"#])

  /// The same without a word.
  static let closing = NetworkTrouble(
    "closing", [#""drop_connection_after": \#(BenchLimits.requestsPerConnection)"#])
}
