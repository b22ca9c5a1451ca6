import Model

/// In which a stage differs from the usual one: one lane, answers at once, nothing logged.
struct StageSettings: Sendable {
  var networks: [Network] = [.apns]
  var lanes = 1
  /// How many apps the worker's configuration has: the population's, and others alike.
  var apps = 1
  /// How many apps of Redis are sent for; 0 where workers take none.
  var tenantsSentFor = 0
  /// Whether nobody listens where the push network should be.
  var isNetworkDown = false
  /// Streams that the network allows a connection at a time.
  var streams = BenchLimits.streams
  /// Whether workers reach Redis through a proxy that can put it far away.
  var hasRedisProxy = false
  /// How long the simulator takes for each answer.
  var answerMs = 0
  /// Whether the simulator answers dead tokens with 410.
  var hasDeadTokens = false
  /// FCM's allowance in the configuration: so large that it holds nothing up.
  var messagesPerMinute = BenchLimits.messagesPerMinute
  /// The trouble of the network.
  var trouble = NetworkTrouble.none
  var keepsAcceptLog = false
  /// Whether the networks are reached through an egress proxy.
  var hasEgressProxy = false
  /// Whether the worker has all the time in the world: under valgrind on a busy machine time runs out
  /// that never does otherwise, and sending again would be counted.
  var isPatient = false

  /// The simulator's script.
  var script: String {
    // The worker and h2load each bring a provider token of their own for the same team.
    var members = [#""provider_token_interval_seconds": 0"#, #""delay_ms": \#(answerMs)"#]
    if hasDeadTokens {
      members.append(
        #""rules": [{"token_prefix": "\#(Population.deadPrefix)", "status": 410, "#
          + #""reason": "Unregistered"}]"#)
    }
    members += trouble.members
    return "{\(members.joined(separator: ", "))}"
  }
}
