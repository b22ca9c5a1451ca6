import Glibc
import Model

/// The differences of one campaign scenario from the next.
struct CampaignShape: Sendable {
  enum Lanes: Sendable { case one, all }

  var networks: [Network] = [.apns]
  var lanes = Lanes.one
  var answerMs = 0
  var payloadBytes = Message.payloadBytesMin
  var deadPercent = 0
  var devicesPerUser = 1
  /// Whether the network is reached through an egress proxy.
  var hasEgressProxy = false
  var pushesMax = Int.max

  var message: Message { Message(payloadBytes: payloadBytes) }

  var stage: StageSettings {
    var settings = StageSettings()
    settings.networks = networks
    settings.lanes = lanes == .one ? 1 : Int(sysconf(CInt(_SC_NPROCESSORS_ONLN)))
    settings.answerMs = answerMs
    settings.hasDeadTokens = deadPercent > 0
    settings.hasEgressProxy = hasEgressProxy
    return settings
  }

  /// Users for that many pushes, and behind them those of the warm-up.
  func population(pushes: Int) -> Population {
    Population(
      networks: networks, users: pushes / devicesPerUser + BenchLimits.warmUpUsers,
      devicesPerUser: devicesPerUser, deadPercent: deadPercent)
  }
}
