import Model
import Store

/// The ways to say whom a job is for.
enum CampaignAudience: String, CaseIterable, Sendable {
  case users, installations, set, zset, list, topic, channel, all

  /// Whether the users are the members of a key.
  var isKey: Bool { !fill.isEmpty }

  /// The Lua statement that adds a member to the key, with the member's number as ARGV[2] to ARGV[3].
  var fill: String {
    switch self {
    case .users, .installations, .topic, .channel, .all: ""
    case .set: "redis.call('SADD', KEYS[1], ARGV[1] .. n)"
    case .zset: "redis.call('ZADD', KEYS[1], n, ARGV[1] .. n)"
    case .list: "redis.call('RPUSH', KEYS[1], ARGV[1] .. n)"
    }
  }
}

extension ChaosStage {
  private static let filledAtOnce = 5_000

  /// Lets Redis know the crowd as each kind of audience.
  func fillAudiences() async throws {
    for audience in CampaignAudience.allCases where audience.isKey {
      for first in stride(from: 0, to: crowd.count, by: Self.filledAtOnce) {
        let last = min(first + Self.filledAtOnce, crowd.count) - 1
        _ = try await session.command(
          "EVAL", "for n = ARGV[2], ARGV[3] do \(audience.fill) end", "1", audience.rawValue,
          crowd.userPrefix, "\(first)", "\(last)")
      }
    }
    for first in stride(from: 0, to: crowd.count, by: StoreLimits.subscriptionsMax) {
      let last = min(first + StoreLimits.subscriptionsMax, crowd.count)
      try await session.subscribe(
        (first..<last).map {
          Subscription(
            app: crowd.app, topic: CampaignAudience.topic.rawValue,
            user: "\(crowd.userPrefix)\($0)")
        })
    }
  }

  /// Enqueues a campaign to all of the crowd for each of these kinds of audience.
  /// - Parameter more: members of the job, each with a comma before it.
  func startCampaigns(
    _ audiences: [CampaignAudience] = CampaignAudience.allCases, more: String = ""
  ) async throws {
    for audience in audiences {
      let entry = ledger.open(app: crowd.app, users: 0..<crowd.count)
      try await session.enqueue(job(entry, to: audience, more: more))
      ledger.acknowledge(entry.number)
    }
  }

  private func job(_ entry: LedgerEntry, to audience: CampaignAudience, more: String) -> [UInt8] {
    let name = audience.rawValue
    let member: String
    switch audience {
    case .users:
      return crowd.job(id: entry.id, topic: entry.topic, users: entry.users, more: more)
    case .installations: member = crowd.places(entry.users)
    case .set, .zset, .list: member = #""users_key":"\#(name)""#
    case .topic: member = #""topic":"\#(name)""#
    case .channel: member = #""channel":"\#(name)""#
    case .all: member = #""all":true"#
    }
    return crowd.job(id: entry.id, topic: entry.topic, audience: member, more: more)
  }
}
