/// A figure that the program promises: what must hold, and what is aimed for.
package struct Budget: Sendable, Equatable {
  package enum Direction: Sendable { case atMost, atLeast }

  /// Which figure of a result it limits.
  package enum Measure: String, Sendable {
    case ratio
    case redisCommands = "Redis commands per push"
    case share = "share of connections x streams / answer time"
    case p50 = "p50"
    case p99 = "p99"
    case residentMiB = "worker memory"
    case redisMiB = "Redis memory beside the audience"
    case redisCallMs = "Redis function calls, 99 %"
    case growth
    case besidePlain = "worker CPU beside one text for all"
    case registrations = "registrations a second"
    case besideHSET = "Redis CPU per registration beside HSET"
    case lanesBesideOne = "Redis CPU with 96 lanes beside one"
    case workersBesideOne = "Redis CPU with 6 workers of 16 lanes beside one lane"
    case functionsShare = "functions' share of Redis's time"
    case paceError = "difference from a job's pace over any 10 s"
    case campaignBesidePaced = "a campaign's speed beside a paced job"
    case leastTrouble = "pushes a second with 5 % of trouble beside none"
    case littleTrouble = "pushes a second with 10 % of trouble beside none"
    case troubleInBursts =
      "pushes a second with 10 % of trouble in bursts of 50 beside none"
    case muchTrouble = "pushes a second with 30 % of trouble beside none"
    case oneServerExpired = "pushes a second with 1 % of ExpiredProviderToken beside none"
    case oneStreamReset = "pushes a second with 1 % of streams reset beside none"
    case mostTrouble = "pushes a second with 60 % of trouble beside none"
    case rateTaken = "pushes accepted beside the rate that a network takes"
    case rateWasted = "pushes that it refuses of those that it gets"
    case connectionsGoAway =
      "pushes a second where connections go away after 1,000 requests beside none"
    case connectionsClose =
      "pushes a second where connections close after 1,000 requests beside none"
    case lastPush =
      "the longest last push of campaigns where connections go away after 1,000 requests beside the middle one"
    case lateAnswers = "time to 97 % of a campaign without slow answers beside 1 % of them 5 s late"
    case missingAnswers =
      "time to 97 % of a campaign without slow answers beside 1 % that never come"
    case lateAnswersGoAway =
      "time to 97 % of a campaign without them beside late answers and GOAWAYs after 1,000 requests"
    case besideSlowRatio = "another app's p99 beside slow answers, against without"
    case besideSlowMs = "another app's p99 beside slow answers, more than without"
    case jobsPerSecond = "jobs of one user a second"
    case workerPerJob = "worker CPU per job of one user"
    case redisPerJob = "Redis CPU per job of one user"
    case besideCampaign = "worker and Redis CPU per push beside a campaign's"
    case besideNoDistance = "pushes a second beside Redis at no distance"
    case admission = "from enqueueing to the admission of a job of 1M users"
    case longestCall = "the longest function call in Redis"
    case campaignBesideEvents = "a campaign's speed beside 1,000 jobs of one user a second"
    case idleShare = "Redis CPU with 64 idle lanes"
    case bytesPerJob = "bytes that Redis keeps of a finished job of one user"
    case firstPush = "from enqueueing to the first push"
    case connectionKiB = "worker memory of an idle connection"
    case firstRound = "a first push to each of 1,000 apps"
    case startOfApps = "from a worker's start to its first push with 10,000 apps in Redis"
    case addedApp = "the longest from app add to the app's first push"
    case besideAPNs = "worker CPU per push beside APNs'"
  }

  package var measure: Measure
  package var direction: Direction
  package var limit: Double
  /// Better than the limit, and not reached everywhere yet; nil when the limit is all.
  package var aim: Double?
  /// After the numbers: ` x`, ` MiB`, ` ms`, ` %`.
  package var unit: String

  package init(
    _ measure: Measure, _ direction: Direction, _ limit: Double, aim: Double? = nil, unit: String
  ) {
    self.measure = measure
    self.direction = direction
    self.limit = limit
    self.aim = aim
    self.unit = unit
  }

  package func text(_ figure: Double) -> String {
    (direction == .atMost ? "≤ " : "≥ ") + Figure.text(figure, decimals: 2).withoutTrailingZeros
      + unit
  }
}

/// Every budget, one home for all of them. A new figure goes here, and into docs/internals/performance.md.
extension Budget {
  /// Worker CPU per push beside h2load's per request: what the fastest peer library needs for the
  /// sending alone.
  static let apnsRatio = Budget(.ratio, .atMost, 1.5, aim: 1.1, unit: " x")
  static let fcmRatio = Budget(.ratio, .atMost, 2.0, aim: 1.3, unit: " x")
  /// A request of many pushes saves most of what HTTP/2 and TLS cost each of them.
  static let besideAPNs = Budget(.besideAPNs, .atMost, 0.6, unit: " x")
  /// All commands, those inside functions included.
  static let redisCommands = Budget(.redisCommands, .atMost, 2, aim: 1.1, unit: "")
  /// The rate of messages, orders and events, all day: the producer's command is not counted.
  static let jobsPerSecond = Budget(.jobsPerSecond, .atLeast, 10_000, aim: 20_000, unit: "")
  static let workerPerJob = Budget(.workerPerJob, .atMost, 40, aim: 20, unit: " µs")
  static let redisPerJob = Budget(.redisPerJob, .atMost, 50, aim: 30, unit: " µs")
  static let redisCommandsPerJob = Budget(.redisCommands, .atMost, 14, aim: 8, unit: "")
  /// Jobs of few users, by how many: most of what messages and orders make.
  static let pushOfOne = Budget(.besideCampaign, .atMost, 10, aim: 6, unit: " x")
  static let pushOfFive = Budget(.besideCampaign, .atMost, 4, aim: 2.5, unit: " x")
  static let pushOfTwenty = Budget(.besideCampaign, .atMost, 2, aim: 1.5, unit: " x")
  static let pushOfHundred = Budget(.besideCampaign, .atMost, 1.4, aim: 1.2, unit: " x")
  static let pushOfHundreds = Budget(.besideCampaign, .atMost, 1.2, aim: 1.1, unit: " x")
  /// Round trips to Redis overlap: what is far away is waited for and costs no rate.
  static let nearRedis = Budget(.besideNoDistance, .atLeast, 0.7, aim: 0.9, unit: " x")
  static let farRedis = Budget(.besideNoDistance, .atLeast, 0.5, aim: 0.8, unit: " x")
  /// A job of as many users as one may name keeps nobody waiting.
  static let admission = Budget(.admission, .atMost, 2, aim: 1, unit: " s")
  static let longestCall = Budget(.longestCall, .atMost, 5, aim: 2, unit: " ms")
  static let besideLarge = Budget(.p99, .atMost, 50, aim: 20, unit: " ms")
  /// A slow network sends what is urgent next.
  static let order = Budget(.p99, .atMost, 500, aim: 150, unit: " ms")
  static let besideCampaign = Budget(.p99, .atMost, 50, aim: 20, unit: " ms")
  static let campaignBesideEvents = Budget(
    .campaignBesideEvents, .atLeast, 0.8, aim: 0.9, unit: " x")
  static let idleLanes = Budget(.idleShare, .atMost, 1, aim: 0.3, unit: " %")
  /// For as long as its record is kept, and there are millions.
  static let bytesPerJob = Budget(.bytesPerJob, .atMost, 400, aim: 250, unit: "")
  static let steadyEvents = Budget(.p99, .atMost, 20, aim: 5, unit: " ms")
  static let answerTime = Budget(.share, .atLeast, 90, aim: 97, unit: " %")
  static let idleHalf = Budget(.p50, .atMost, 2, aim: 1, unit: " ms")
  static let idleMost = Budget(.p99, .atMost, 10, aim: 4, unit: " ms")
  static let highPriority = Budget(.p99, .atMost, 100, aim: 20, unit: " ms")
  /// However many it is for.
  static let firstPush = Budget(.firstPush, .atMost, 1, unit: " s")
  static let workerMemory = Budget(.residentMiB, .atMost, 64, aim: 32, unit: " MiB")
  /// The memory of a worker for 1,000 apps with an event now and then, and the part of each idle connection in it.
  static let tenantsMemory = Budget(.residentMiB, .atMost, 160, aim: 96, unit: " MiB")
  static let connectionMemory = Budget(.connectionKiB, .atMost, 100, aim: 50, unit: " KiB")
  static let firstRound = Budget(.firstRound, .atMost, 6, aim: 3, unit: " s")
  /// As many apps in Redis as there may be, each at two networks. The time that an added app takes is what the documents promise.
  static let appsMemory = Budget(.residentMiB, .atMost, 512, aim: 256, unit: " MiB")
  static let appsStart = Budget(.startOfApps, .atMost, 30, aim: 10, unit: " s")
  static let addedApp = Budget(.addedApp, .atMost, 5, aim: 2, unit: " s")
  static let audienceMemory = Budget(.redisMiB, .atMost, 64, aim: 16, unit: " MiB")
  /// How long a function call keeps Redis from everybody else, 99 % of them: the longest of all is as long as the system
  /// leaves Redis without a core, and stands in the note.
  static let redisCall = Budget(.redisCallMs, .atMost, 5, aim: 2, unit: " ms")
  /// Work wakes as many lanes as there is work for: Redis must not pay for those that wait.
  static let lanesBesideOne = Budget(.lanesBesideOne, .atMost, 1.5, aim: 1.1, unit: " x")
  static let workersBesideOne = Budget(.workersBesideOne, .atMost, 1.5, aim: 1.1, unit: " x")
  /// Work that waits for room or for a network costs a look, however much it is.
  static let functionsShare = Budget(.functionsShare, .atMost, 2, unit: " %")
  static let paceError = Budget(.paceError, .atMost, 5, aim: 3, unit: " %")
  /// The pushes of a paced job wait in nobody's way.
  static let campaignBesidePaced = Budget(
    .campaignBesidePaced, .atLeast, 0.85, aim: 0.95, unit: " x")
  /// A network in trouble still gets what it takes. Trouble is at random, with a Retry-After of 2 s, and the middle of 600,000
  /// pushes counts: in a shorter campaign that wait is the figure.
  static let leastTrouble = Budget(.leastTrouble, .atLeast, 0.9, unit: " x")
  static let littleTrouble = Budget(.littleTrouble, .atLeast, 0.8, aim: 0.88, unit: " x")
  /// Trouble that comes to many at once is as much trouble as any.
  static let troubleInBursts = Budget(.troubleInBursts, .atLeast, 0.7, unit: " x")
  static let muchTrouble = Budget(.muchTrouble, .atLeast, 0.5, aim: 0.65, unit: " x")
  /// An accident of one request in a hundred, at random, is no word about the others.
  static let oneServerExpired = Budget(.oneServerExpired, .atLeast, 0.8, aim: 0.9, unit: " x")
  static let oneStreamReset = Budget(.oneStreamReset, .atLeast, 0.5, aim: 0.9, unit: " x")
  static let mostTrouble = Budget(.mostTrouble, .atLeast, 0.2, aim: 0.35, unit: " x")
  /// The rate that a network takes is learned by what it refuses.
  static let rateTaken = Budget(.rateTaken, .atLeast, 0.9, unit: " x")
  static let rateWasted = Budget(.rateWasted, .atMost, 10, aim: 3, unit: " %")
  static let connectionsGoAway = Budget(.connectionsGoAway, .atLeast, 0.6, aim: 0.85, unit: " x")
  static let connectionsClose = Budget(.connectionsClose, .atLeast, 0.3, aim: 0.6, unit: " x")
  /// Pushes that come back from a connection that ended are sent at once, also the last of them.
  static let lastPush = Budget(.lastPush, .atMost, 2, aim: 1.5, unit: " x")
  /// Who waits for an answer keeps nobody from being sent to.
  static let lateAnswers = Budget(.lateAnswers, .atLeast, 0.8, aim: 0.95, unit: " x")
  static let missingAnswers = Budget(.missingAnswers, .atLeast, 0.5, aim: 0.95, unit: " x")
  static let lateAnswersGoAway = Budget(.lateAnswersGoAway, .atLeast, 0.5, unit: " x")
  /// Nor from another app.
  static let besideSlowRatio = Budget(.besideSlowRatio, .atMost, 3, unit: " x")
  static let besideSlowMs = Budget(.besideSlowMs, .atMost, 50, unit: " ms")
  static let personalTexts = Budget(.besidePlain, .atMost, 1.3, unit: " x")
  /// On one connection; Redis has one core for all of them.
  static let registrations = Budget(.registrations, .atLeast, 15_000, aim: 30_000, unit: "")
  static let besideHSET = Budget(.besideHSET, .atMost, 15, aim: 10, unit: " x")
  /// The last figure in the first's: memory over a backlog, CPU per push over a population.
  static let growth = Budget(.growth, .atMost, 1.1, unit: " x")
}

extension String {
  /// `1.50` → `1.5`, `64.00` → `64`.
  fileprivate var withoutTrailingZeros: String {
    guard contains(".") else { return self }
    var text = Substring(self)
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return String(text)
  }
}

/// A budget beside what was measured.
package struct BudgetCheck: Sendable, Equatable {
  package var budget: Budget
  package var measured: Double

  package init(_ budget: Budget, _ measured: Double?) {
    self.budget = budget
    self.measured = measured ?? .nan
  }

  /// A figure that is not a number was not measured, and is not met.
  package var isMet: Bool { keeps(budget.limit) }

  package var reachesAim: Bool { keeps(budget.aim ?? budget.limit) }

  package var verdict: String { !isMet ? "MISSED" : reachesAim ? "met, aim too" : "met" }

  package var measuredText: String { Figure.text(measured, decimals: 2) + budget.unit }

  private func keeps(_ figure: Double) -> Bool {
    switch budget.direction {
    case .atMost: measured <= figure
    case .atLeast: measured >= figure
    }
  }
}
