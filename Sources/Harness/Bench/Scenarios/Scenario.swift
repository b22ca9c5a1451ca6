import Model

/// A scenario that is measured.
package struct Scenario: Sendable {
  enum Kind: Sendable {
    case campaign(CampaignShape)
    case batches
    case idleLatency
    case highPriority
    case growth
    case personalTexts
    case registration
    case audienceMemory
    case backlogMemory
    case wakingLanes
    case dueChunks
    case pacedJob
    case troubledNetwork
    case slowAnswers
    case lastPush
    case limitedRate
    case smallJobs
    case jobSizes
    case steadyEvents
    case indexedCampaign
    case farRedis
    case largeJob
    case slowNetwork
    case halfDead
    case besideEvents
    case idleLanes
    case tenants
    case appsInRedis
  }

  package let name: String
  /// One line for `--list`.
  package let summary: String
  let kind: Kind
  var budgets: [Budget] = []

  package static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }
}

extension Scenario {
  package static let all: [Scenario] = [
    campaign(
      "apns", "A campaign to APNs, one lane.", [.apnsRatio, .redisCommands, .workerMemory]),
    campaign("apns-lanes", "The same with a lane for each core.") { $0.lanes = .all },
    campaign("fcm", "A campaign to FCM, one lane.", [.fcmRatio, .redisCommands]) {
      $0.networks = [.fcm]
    },
    Scenario(
      name: "jpush",
      summary: "A campaign to JPush, many pushes a request, and one to APNs in turn with it.",
      kind: .batches, budgets: [.besideAPNs, .redisCommands]),
    campaign("mixed", "Every other installation on APNs, every other on FCM.") {
      $0.networks = [.apns, .fcm]
    },
    campaign(
      "answer-time", "Each answer takes 100 ms: how much of connections x streams is used.",
      [.answerTime]
    ) {
      $0.answerMs = BenchLimits.answerMs
      $0.pushesMax = BenchLimits.answerTimePushesMax
    },
    campaign("payload-4k", "APNs payloads of about 4,000 bytes.") {
      $0.payloadBytes = BenchLimits.largePayloadBytes
    },
    campaign("dead-tokens", "10 % of the tokens are dead: answered with 410 and uninstalled.") {
      $0.deadPercent = BenchLimits.deadPercent
    },
    campaign("devices", "5 installations of each user.") {
      $0.devicesPerUser = BenchLimits.devicesPerUser
    },
    campaign("proxy", "A campaign to APNs through an egress proxy, by CONNECT.", [.apnsRatio]) {
      $0.hasEgressProxy = true
    },
    Scenario(
      name: "idle", summary: "From enqueueing to the network, one user at a time.",
      kind: .idleLatency, budgets: [.idleHalf, .idleMost]),
    Scenario(
      name: "priority",
      summary: "The same for high-priority jobs of one user each, while a bulk job saturates.",
      kind: .highPriority, budgets: [.highPriority]),
    Scenario(
      name: "events", summary: "A backlog of jobs of one user each, one lane.", kind: .smallJobs,
      budgets: [
        .jobsPerSecond, .workerPerJob, .redisPerJob, .redisCommandsPerJob, .bytesPerJob,
      ]),
    Scenario(
      name: "sizes",
      summary: "Backlogs of jobs of 1, 5, 20, 100 and 500 users, beside a campaign.",
      kind: .jobSizes),
    Scenario(
      name: "steady",
      summary: "1,000 jobs of one user each a second, with one lane and with 96.",
      kind: .steadyEvents),
    Scenario(
      name: "growth",
      summary: "As many pushes out of 10k, 100k and 1M installations (10M with --full).",
      kind: .growth, budgets: [.growth]),
    Scenario(
      name: "personal",
      summary: "A name and a language for each receiver, beside the same text for all.",
      kind: .personalTexts, budgets: [.personalTexts]),
    Scenario(
      name: "registration",
      summary: "Devices registered by functions, pipelined, beside an HSET of as many fields.",
      kind: .registration, budgets: [.registrations, .besideHSET]),
    Scenario(
      name: "backlog", summary: "Worker memory over a backlog of 1M pushes.", kind: .backlogMemory,
      budgets: [.workerMemory, .growth]),
    Scenario(
      name: "herd",
      summary: "Redis CPU of 100 one-user jobs a second: many lanes and workers beside one lane.",
      kind: .wakingLanes, budgets: [.lanesBesideOne, .workersBesideOne]),
    Scenario(
      name: "due",
      summary: "How busy 10,000 due chunks without a network keep Redis, with ten workers.",
      kind: .dueChunks, budgets: [.functionsShare]),
    Scenario(
      name: "pace",
      summary: "A job of 1,000 pushes a second, and a campaign of the same app beside it.",
      kind: .pacedJob, budgets: [.paceError, .campaignBesidePaced]),
    Scenario(
      name: "trouble",
      summary:
        "Pushes a second while 5 to 60 % of answers are 503, or connections end after 1,000 or at random.",
      kind: .troubledNetwork),
    Scenario(
      name: "slow-answers",
      summary:
        "A campaign and another app's pushes while 1 % of answers are late, with GOAWAYs too, or missing.",
      kind: .slowAnswers),
    Scenario(
      name: "last-push",
      summary: "The last push of 50 campaigns while connections end after 1,000 requests.",
      kind: .lastPush, budgets: [.lastPush]),
    Scenario(
      name: "rate",
      summary: "A campaign to FCM that takes 5,000 a second, with one worker and with three.",
      kind: .limitedRate, budgets: [.rateTaken, .rateWasted]),
    Scenario(
      name: "distance",
      summary: "Jobs and a campaign with Redis 2 ms away, and a campaign with it 20 ms away.",
      kind: .farRedis),
    Scenario(
      name: "large-job", summary: "A job that names 1M users, and small jobs beside it.",
      kind: .largeJob, budgets: [.admission, .longestCall, .besideLarge]),
    Scenario(
      name: "order",
      summary: "High priority behind a low-priority campaign on a network of 200 pushes a second.",
      kind: .slowNetwork, budgets: [.order]),
    Scenario(
      name: "half-dead", summary: "A campaign half of whose tokens are dead: Redis' longest call.",
      kind: .halfDead, budgets: [.longestCall]),
    Scenario(
      name: "beside",
      summary: "A campaign and 1,000 jobs of one user a second (1M pushes with --full).",
      kind: .besideEvents, budgets: [.besideCampaign, .campaignBesideEvents]),
    Scenario(
      name: "idle-lanes", summary: "What 64 idle lanes cost Redis, beside one.",
      kind: .idleLanes, budgets: [.idleLanes]),
    Scenario(
      name: "everybody",
      summary: "Campaigns to all of 1M installations and to a topic of them (10M with --full).",
      kind: .indexedCampaign, budgets: [.firstPush, .workerMemory, .audienceMemory, .redisCall]),
    Scenario(
      name: "audience",
      summary:
        "Redis' memory and longest call in a campaign to a key of 1M users (10M with --full).",
      kind: .audienceMemory, budgets: [.audienceMemory, .redisCall]),
    Scenario(
      name: "tenants",
      summary: "1,000 apps with one push each, and another some seconds later; two lanes.",
      kind: .tenants, budgets: [.tenantsMemory, .connectionMemory, .firstRound]),
    Scenario(
      name: "apps",
      summary:
        "10,000 apps in Redis, each with keys of its own: memory, start, and from app add to the first push.",
      kind: .appsInRedis, budgets: [.appsMemory, .appsStart, .addedApp]),
  ]

  private static func campaign(
    _ name: String, _ summary: String, _ budgets: [Budget] = [],
    _ change: (inout CampaignShape) -> Void = { _ in }
  ) -> Scenario {
    var shape = CampaignShape()
    change(&shape)
    return Scenario(name: name, summary: summary, kind: .campaign(shape), budgets: budgets)
  }
}
