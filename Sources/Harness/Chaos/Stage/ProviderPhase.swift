import LocalServices

/// One kind of trouble that a push network makes.
struct ProviderPhase: Sendable {
  let name: String
  /// Further members of the simulator's script.
  var script: String?
  /// The fault of the network on the way.
  var network = FaultProxy.Fault.none
  let ms: UInt64
  /// Whether answers are lost on the way: those pushes are sent again.
  var losesAnswers = false
  /// Whether answers come after their requests were given up: each such attempt is sent again.
  var answersTooLate = false
  /// Whether a connection is replaced because it alone is bad.
  var replacesConnection = false
  /// Whether refusals that are final belong to it.
  var rejects = false
  /// Whether breakers open, so that only what they need to notice burns attempts.
  var opensBreakers = false
  /// Whether connections are cut before, since the script counts their requests.
  var beginsAnew = false
  /// The share of the usual rate that goes on meanwhile, with no alarm but the allowed: what troubles a few is no word about all.
  /// Nil when it may stand still.
  var rateShareMin: Double?
  /// The kinds of alarms that may stand then.
  var alarmsAllowed: Set<String> = []
  /// How soon the usual rate is back after it; nil for the row's limit. Only a trial of full size has a machine to itself.
  var recoverySeconds: Double?
  /// Whether a brief run leaves it out.
  var isLong = false

  static func all(_ trial: Trial) -> [ProviderPhase] {
    let usualMs = trial.scaledMs(10_000, atLeast: 2_000)
    let outageMs = trial.scaledMs(60_000, atLeast: 2_500)
    let phases = [
      ProviderPhase(
        name: "503 to everything", script: #""all": {"status": 503}"#, ms: outageMs,
        opensBreakers: true, recoverySeconds: trial.scale >= 1 ? 3 : nil),
      ProviderPhase(
        name: "429 with Retry-After to everything",
        script: #""all": {"status": 429, "retry_after_seconds": 2}"#, ms: usualMs,
        opensBreakers: true, isLong: true),
      // The reason that APNs gives where it means one device: no breaker's business.
      ProviderPhase(
        name: "429 with Retry-After to each device",
        script: #""all": {"status": 429, "reason": "TooManyRequests", "retry_after_seconds": 2}"#,
        ms: usualMs, isLong: true),
      ProviderPhase(
        name: "500 without a body", script: #""all": {"status": 500, "probability": 0.2}"#,
        ms: usualMs, isLong: true),
      // At random, as from a balancer half of whose servers are gone: nobody is given up, and no breaker stays open.
      ProviderPhase(
        name: "503 with Retry-After to six of ten",
        script:
          #""all": {"status": 503, "retry_after_seconds": 2, "probability": 0.6}, "seed": 6"#,
        ms: usualMs, isLong: true),
      // Many requests in a row, as from a server that restarts; fewer than open a breaker. They can be all that one connection has
      // in flight, which is then replaced: that alarm tells the truth.
      ProviderPhase(
        name: "503 in bursts",
        script: #""all": {"status": 503, "probability": 0.1, "burst": 50}, "seed": 6"#,
        ms: usualMs, rateShareMin: 0.5, alarmsAllowed: ["bad_connection"], isLong: true),
      ProviderPhase(
        name: "400 without a reason", script: #""all": {"status": 400, "probability": 0.02}"#,
        ms: usualMs, rejects: true, isLong: true),
      ProviderPhase(
        name: "403 ExpiredProviderToken at random",
        script: #""seed": 47, "all": "#
          + #"{"status": 403, "reason": "ExpiredProviderToken", "probability": 0.01}"#,
        ms: usualMs, rateShareMin: 0.5),
      ProviderPhase(
        name: "PROTOCOL_ERROR at random",
        script: #""seed": 47, "all": {"action": "reset", "reset_code": 1, "probability": 0.01}"#,
        ms: usualMs, rateShareMin: 0.5),
      ProviderPhase(
        name: "stalled streams", script: #""all": {"action": "stall", "probability": 0.01}"#,
        ms: usualMs, isLong: true),
      ProviderPhase(
        name: "late answers",
        script: #""all": {"delay_ms": 5000, "probability": 0.01}, "#
          + #""seed": \#(trial.seed % 1_000_000)"#,
        ms: usualMs, answersTooLate: true, isLong: true),
      ProviderPhase(
        name: "one bad connection", script: #""rules": [{"connection": 1, "status": 503}]"#,
        ms: usualMs, replacesConnection: true, isLong: true),
      ProviderPhase(
        name: "connections refused", network: .refuse, ms: usualMs, losesAnswers: true,
        beginsAnew: true, isLong: true),
      ProviderPhase(
        name: "stalled connections", script: #""stall_after": 200"#, ms: usualMs,
        losesAnswers: true, beginsAnew: true, isLong: true),
      ProviderPhase(
        name: "GOAWAY storm", script: #""goaway_after": 40"#, ms: usualMs, losesAnswers: true,
        beginsAnew: true),
      ProviderPhase(
        name: "SETTINGS down to 1 and back",
        script:
          #""max_concurrent_streams": [{"after": 100, "value": 1}, {"after": 150, "value": 1000}, "#
          + #"{"after": 1000, "value": 1}, {"after": 1050, "value": 1000}]"#,
        ms: usualMs, losesAnswers: true, beginsAnew: true, isLong: true),
      ProviderPhase(
        name: "RST_STREAM(NO_ERROR) after an early answer", script: #""early_answer": true"#,
        ms: usualMs, losesAnswers: true, isLong: true),
      ProviderPhase(
        name: "streams reset", script: #""reset_after": {"n": 50, "code": 2, "times": 500}"#,
        ms: usualMs, losesAnswers: true, beginsAnew: true, isLong: true),
      ProviderPhase(
        name: "TLS cut in an answer", network: .resetMidReply(afterReads: 20...200), ms: usualMs,
        losesAnswers: true),
      ProviderPhase(
        name: "TLS cut in a request", network: .resetMidRequest(afterReads: 20...200),
        ms: usualMs, losesAnswers: true, isLong: true),
      ProviderPhase(
        name: "slow reader", network: .bandwidth(bytesPerSecond: 100_000), ms: usualMs, isLong: true
      ),
      ProviderPhase(
        name: "nobody answers", network: .blackhole, ms: usualMs, losesAnswers: true, isLong: true),
    ]
    return phases.filter { trial.wants(phase: $0.name, isLong: $0.isLong) }
  }
}
