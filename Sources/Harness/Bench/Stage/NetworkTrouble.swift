/// A trouble of a network that is not down.
struct NetworkTrouble: Sendable {
  static let none = NetworkTrouble("none", [])

  let name: String
  /// Members of the simulator's script.
  let members: [String]

  private init(_ name: String, _ members: [String]) {
    self.name = name
    self.members = members
  }

  /// Some answers are 503, at random.
  static func answers(percent: Int) -> NetworkTrouble {
    answers("503-\(percent)", percent: percent, burst: 1)
  }

  /// As many are 503, but so many in a row.
  static func bursts(percent: Int) -> NetworkTrouble {
    answers("503-\(percent)-bursts", percent: percent, burst: BenchLimits.troubleBurst)
  }

  private static func answers(_ name: String, percent: Int, burst: Int) -> NetworkTrouble {
    NetworkTrouble(
      name,
      [
        #""all": {"status": 503, "reason": "ServiceUnavailable", "#
          + #""retry_after_seconds": \#(BenchLimits.retryAfterSeconds), "#
          + #""probability": \#(Double(percent) / 100), "burst": \#(burst)}"#,
        #""seed": \#(percent)"#,
      ])
  }

  /// Some answers come late, but to marked users.
  static let late = NetworkTrouble(
    "late", slow(#""delay_ms": \#(BenchLimits.lateMs)"#))

  /// The trouble in which as many answers never come.
  static let silent = NetworkTrouble("silent", slow(#""action": "stall""#))

  /// Late answers, while each connection ends after so many requests: what is late keeps it open for longer.
  static let lateGoAway = NetworkTrouble("late-goaway", late.members + goAway.members)

  private static func slow(_ how: String) -> [String] {
    [
      #""rules": [{"token_prefix": "\#(Population.markPrefix)"}]"#,
      #""all": {\#(how), "probability": \#(Double(BenchLimits.slowPercent) / 100)}"#,
      #""seed": \#(BenchLimits.slowSeed)"#,
    ]
  }

  /// One server behind the balancer has another clock: it refuses the provider token of one request in a hundred.
  static let expiredAtRandom = NetworkTrouble(
    "expired-1",
    [
      #""seed": \#(BenchLimits.troubleSeed)"#,
      #""all": {"status": 403, "reason": "ExpiredProviderToken", "probability": 0.01}"#,
    ])

  /// One stream in a hundred is reset with PROTOCOL_ERROR.
  static let resetAtRandom = NetworkTrouble(
    "reset-1",
    [
      #""seed": \#(BenchLimits.troubleSeed)"#,
      #""all": {"action": "reset", "reset_code": 1, "probability": 0.01}"#,
    ])

  /// One request in so many has its connection cut: what was accepted on it and not answered yet is sent again.
  static let cutAtRandom = NetworkTrouble(
    "cut",
    [
      #""seed": \#(BenchLimits.troubleSeed)"#,
      #""all": {"action": "drop", "probability": \#(1 / Double(BenchLimits.requestsPerCut))}"#,
    ])

  /// FCM takes so many a second from a project, and refuses what is more.
  static func rate(perSecond: Int) -> NetworkTrouble {
    NetworkTrouble("rate", [#""fcm_requests_per_second": \#(perSecond)"#])
  }

  /// Each connection ends after so many requests, with a GOAWAY that says so.
  static let goAway = NetworkTrouble(
    "goaway", [#""goaway_after": \#(BenchLimits.requestsPerConnection)"#])

  /// The trouble in which each connection ends after so many requests, without a word.
  static let closing = NetworkTrouble(
    "closing", [#""drop_connection_after": \#(BenchLimits.requestsPerConnection)"#])
}
