import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing

/// A worker process that dies at each point before and after a call that only workers of unequal configuration make.
@Suite struct RouteCrashPointTests {
  /// The call at which a worker dies.
  enum Call: String, CaseIterable {
    /// One that lacks the app leaves jobs to others.
    case passOnJob = "pass_on_job"
    /// One that lacks the app leaves chunks to others.
    case passOnChunk = "pass_on_chunk"
    /// One that lacks a network leaves pushes to others with what it counted of its own.
    case settle
    /// One that has the app takes jobs that were left to it.
    case takeRouted = "take_routed"
    /// One that has the app and the network takes chunks that were left to it.
    case claimRouted = "claim_routed"

    /// Whether the worker that dies lacks the app and the network.
    var isOfLesser: Bool { self == .passOnJob || self == .passOnChunk || self == .settle }
    /// Whether the jobs are begun by a worker that has everything and goes away.
    var isBegun: Bool { self == .passOnChunk || self == .claimRouted }
  }

  /// One lane with one connection: so many pushes are in flight at most.
  private static let inFlightMax = 20
  /// A lane has so many chunks in hand that it sends from.
  private static let chunksMax = 4
  private static let worker = WorkerConfiguration.narrow(inFlightMax, leaseSeconds: 2)
  private static let users = 600

  /// What is sent at one point; that of two points has nothing in common.
  private struct Mix {
    let first: Int
    let news: [Installation]
    let shop: [Installation]

    init(_ number: Int) throws {
      first = number * 1_000
      let users = first..<first + RouteCrashPointTests.users
      news = try (Array(users) + [first + 900]).map {
        var installation = try Devices.apns($0, prefix: "ee")
        installation.app = "news"
        return installation
      }
      shop = try Devices.fcm(users) + Devices.apns(users)
    }

    var id: String { "sale-\(first)" }
    var smallID: String { "one-\(first)" }
    var job: String { Devices.job(id, first..<first + RouteCrashPointTests.users) }
    var newsJobs: [String] {
      [job, Devices.job(smallID, first + 900..<first + 901)].map {
        $0.replacing("\"shop\"", with: "\"news\"")
      }
    }
  }

  @Test(
    "a worker that dies while it leaves work to others, or takes it up, loses nothing",
    arguments: Call.allCases)
  func dies(call: Call) async throws {
    let endpoints = PushStage.Endpoints(moreApps: ["news"])
    try await PushStage.with(
      script: .slow, worker: Self.worker, endpoints: endpoints, mostlyWaits: true
    ) { stage in
      var number = 0
      for times in [1, 2] {
        for place in ["before", "after"] {
          try await die(at: "\(place) \(call.rawValue):\(times)", call, try Mix(number), stage)
          number += 1
        }
      }
      #expect(try await stage.client.length("dead") == 0)
      #expect(stage.simulator.counters.violations == 0)
    }
  }

  private func die(at point: String, _ call: Call, _ mix: Mix, _ stage: PushStage) async throws {
    let client = stage.client
    try await client.install(mix.news + mix.shop)
    try await prepare(call, mix, stage)
    let process = try stage.startProcess(
      crashAt: point, of: call.isOfLesser ? stage.lesserText : nil)
    guard await process.hasDied(at: point) else { return }
    let chunks = try await client.claimedChunks()
    try await stage.withWorkers(1, of: stage.lesser) { _ in
      try await stage.withWorkers { _ in
        for (id, app, count) in [
          (mix.id, "news", Self.users), (mix.smallID, "news", 1), (mix.id, "shop", 2 * Self.users),
        ] {
          let record = try await client.finished(id, app: app)
          #expect(record.counts.accepted == count, "\(point): \(record)")
          #expect(record.isBalanced && record.pending == 0, "\(point): \(record)")
          #expect(record.counts.skipped + record.counts.failed == 0, "\(point): \(record)")
        }
      }
    }
    let expected = Set((mix.news + mix.shop).map(\.token.text))
    let accepted = stage.simulator.acceptedPushes.map(\.token).filter { expected.contains($0) }
    #expect(Set(accepted) == expected, "lost or never enqueued: \(point)")
    let unsettled = min(chunks, Self.chunksMax) * 100
    let twiceMax = chunks == 0 ? 0 : Self.inFlightMax + unsettled
    #expect(accepted.count - expected.count <= twiceMax, "\(point)")
    #expect(try await client.claimedChunks() == 0, "\(point)")
  }

  /// Enqueues the jobs, and brings them as far as the call needs.
  private func prepare(_ call: Call, _ mix: Mix, _ stage: PushStage) async throws {
    let client = stage.client
    func enqueue() async throws {
      for job in mix.newsJobs + [mix.job] { _ = try await client.enqueue(job) }
    }
    func waiting(_ kind: String, _ route: String) async throws -> Int {
      try await client.command("ZCARD", "pushpool:unrouted:\(kind):\(route)").integer ?? 0
    }
    // What no worker had for ten minutes would be skipped, not left to others.
    try await stage.withWorkers { _ in
      if call.isBegun { try await enqueue() }
      let accepted = Set(mix.news.map(\.token.text))
      _ = try await eventually("the fleet knows this worker, and it has begun") {
        let digests = try await client.command("ZCARD", "pushpool:routes").integer ?? 0
        let isBegun = stage.simulator.acceptedPushes.contains { accepted.contains($0.token) }
        return digests > 0 && (isBegun || !call.isBegun) ? true : nil
      }
    }
    if !call.isBegun { try await enqueue() }
    guard !call.isOfLesser else { return }
    try await stage.withWorkers(1, of: stage.lesser) { _ in
      _ = try await eventually("it has left what it lacks to others") {
        guard call == .claimRouted else {
          return try await waiting("jobs", "news") == 2 ? true : nil
        }
        let chunks = try await waiting("chunks", "news")
        let pushes = try await waiting("chunks", "shop|fcm|production")
        return chunks > 0 && pushes > 0 ? true : nil
      }
    }
  }
}

extension PushStage {
  /// Without the app "news", and without FCM.
  fileprivate var lesser: Configuration {
    var less = configuration
    less.apps.removeAll { $0.id == "news" }
    for index in less.apps.indices { less.apps[index].fcm = nil }
    return less
  }

  /// The same as text.
  fileprivate var lesserText: ConfigurationText {
    var less = text
    less.apps.removeAll { $0.id == "news" }
    for index in less.apps.indices { less.apps[index].others[.fcm] = nil }
    return less
  }
}
