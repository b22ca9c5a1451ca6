import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

@Suite struct TransportTroubleTests {
  private static let impatient = WorkerConfiguration(
    lanes: 1, connectionsPerLane: 1, drainSeconds: 5, leaseSeconds: 10, requestTimeoutSeconds: 3)

  @Test("a provider that never answers does not wedge the pool (APNSwift#93, APNSwift#90)")
  func survivesSilence() async throws {
    let script = SimulatorScript.stage {
      var stall = ScriptRule(action: .stall)
      stall.network = .apns
      $0.rules = [stall]
    }
    try await PushStage.with(script: script, worker: Self.impatient) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<300))
      try await client.install(try Devices.fcm(1_000..<1_010))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("silent", 0..<300))
        _ = try await eventually("requests go unanswered") {
          stage.simulator.counters.stalled >= 1 ? true : nil
        }
        // The other network goes on.
        _ = try await client.enqueue(Devices.job("other", 1_000..<1_010))
        let other = try await client.finished("other", withinSeconds: 15)
        #expect(other.counts.accepted == 10)
        stage.simulator.script = .stage()
        let record = try await client.finishedInHaste("silent")
        #expect(record.counts.accepted == 300)
        #expect(record.isBalanced)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("what waits for a silent network is never put aside for long, and goes on when it is well")
  func outlastsShortSilence() async throws {
    try await PushStage.with(script: .stage(), worker: .narrow(50), mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("before", 0..<100))
        #expect(try await client.finished("before").counts.accepted == 100)
        stage.simulator.script = .stage {
          var stall = ScriptRule(action: .stall)
          stall.network = .apns
          $0.rules = [stall]
        }
        // Its requests fill all streams, and the rest waits until their time is over.
        _ = try await client.enqueue(Devices.job("silent", 0..<2_000))
        _ = try await eventually("the silence is an alarm") {
          try await client.alarms().first { $0.field == "unreachable|shop|apns|production" }
        }
        let dueMs = try await eventually("some is put aside") { try await client.nextDueMs() }
        #expect(dueMs <= Double(PushStage.promptMs))
        stage.simulator.script = .stage()
        let record = try await client.finished("silent")
        #expect(record.counts.accepted == 2_000 && record.isBalanced)
        // Those that were under way.
        #expect(record.counts.retries <= 100)
      }
      #expect(stage.duplicates == 100, "the first 100 get both jobs")
    }
  }

  @Test("one answer in each of many chunks that does not come keeps no other push from being sent")
  func waitsWithoutRoom() async throws {
    let (jobs, users, slow) = (40, 101, "510")
    let patient = WorkerConfiguration(
      lanes: 1, connectionsPerLane: 1, drainSeconds: 1, leaseSeconds: 10,
      requestTimeoutSeconds: 300)
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: slow, action: .stall)]
    }
    try await PushStage.with(script: script, worker: patient) { stage in
      let client = stage.client
      for job in 0..<jobs {
        let all = job * users..<(job + 1) * users
        try await client.install([try Devices.apns(all.lowerBound, prefix: slow)])
        try await client.install(try Devices.apns(all.dropFirst()))
      }
      try await stage.withWorkers { _ in
        // A connection to APNs takes one request until its credential is known to be good.
        try await client.install([try Devices.apns(jobs * users)])
        _ = try await client.enqueue(Devices.job("first", jobs * users..<jobs * users + 1))
        #expect(try await client.finished("first").counts.accepted == 1)
        // Each is a chunk of its own, and together they are more than a lane has room for.
        for job in 0..<jobs {
          _ = try await client.enqueue(Devices.job("j\(job)", job * users..<(job + 1) * users))
        }
        _ = try await eventually("all others are sent to") {
          stage.simulator.counters.accepted == 1 + jobs * (users - 1) ? true : nil
        }
        #expect(stage.simulator.counters.stalled == jobs)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test(
    "a connection that is half open is found out and replaced (apns2#24)")
  func replacesHalfOpenConnection() async throws {
    try await PushStage.with(script: .stage(), worker: Self.impatient, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("first", 0..<50))
        #expect(try await client.finished("first").counts.accepted == 50)
        // From its 51st request on nothing reads what comes in, as behind a firewall that forgot it.
        stage.simulator.script = .stage { $0.stopReadingAfter = 51 }
        _ = try await client.enqueue(Devices.job("last", 50..<51))
        #expect(try await client.finished("last").counts.accepted == 1)
        _ = try await client.enqueue(Devices.job("second", 51..<100))
        // A PING when the requests time out after 3 s, and 5 s for its answer; what waits is put aside
        // for 1 s at a time meanwhile.
        _ = try await eventually("another connection is opened") {
          stage.simulator.counters.connectionsOpened >= 2 ? true : nil
        }
        let record = try await client.finishedInHaste("second")
        #expect(record.counts.accepted == 49)
        #expect(record.isBalanced)
        // The dead connection costs each push one attempt at most.
        #expect(record.counts.retries <= 49)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test(
    "what a GOAWAY leaves unprocessed is sent again, and only that (node-apn#640, pushy#312)",
    arguments: [true, false])
  func heedsGoAway(processesLast: Bool) async throws {
    let script = SimulatorScript.stage {
      // So few that the worker does not learn to stop by itself.
      $0.goAwayAfter = 90
      $0.goAwayProcessesLast = processesLast
      $0.goAwayReason = "Shutdown"
    }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(try Devices.apns(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("gone", 0..<2_000))
        let record = try await stage.client.finishedInHaste("gone")
        stage.expectDelivered(record, 2_000)
        // What was certainly not processed is no attempt.
        #expect(record.counts.retries == 0)
      }
      #expect(stage.simulator.counters.goAways >= 10)
    }
  }

  @Test("a limit of streams that shrinks in mid-campaign is kept to (pushy#356)")
  func followsShrinkingLimit() async throws {
    let script = SimulatorScript.stage {
      $0.delayMs = 2
      $0.maxConcurrentStreams = [
        SimulatorScript.StreamLimitStep(after: 200, value: 1),
        SimulatorScript.StreamLimitStep(after: 600, value: 7),
        SimulatorScript.StreamLimitStep(after: 800, value: 500),
      ]
    }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(try Devices.apns(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("narrow", 0..<2_000))
        let record = try await stage.client.finishedInHaste("narrow")
        stage.expectDelivered(record, 2_000)
      }
    }
  }

  @Test(
    "one bad connection of several costs few pushes an attempt, ends none, and is replaced",
    arguments: BadServer.allCases)
  func survivesOneBadConnection(bad: BadServer) async throws {
    let script = SimulatorScript.stage { $0.rules = [bad.rule] }
    let worker = WorkerConfiguration(
      lanes: 1, connectionsPerLane: 4, drainSeconds: 5, leaseSeconds: 10, requestTimeoutSeconds: 2)
    try await PushStage.with(script: script, worker: worker, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("many", 0..<2_000))
        let many = try await client.finishedInHaste("many")
        #expect(many.counts.accepted == 2_000 && many.isBalanced)
        #expect(many.counts.retries <= 50)
        // Single pushes find a free connection that is well, and some of them try the one that is not.
        var (singles, alarm): (Int, String?) = (0, nil)
        for number in 0..<2_000 where alarm == nil {
          _ = try await client.enqueue(Devices.job("one\(number)", number..<number + 1))
          let one = try await client.finishedInHaste("one\(number)")
          #expect(one.counts.accepted == 1 && one.counts.retries <= 1)
          singles += 1
          alarm = try await client.alarms().first { $0.field.hasPrefix("bad_connection|") }?.message
        }
        #expect(alarm?.contains("one of 4 connections had nothing but trouble") == true)
        #expect(stage.simulator.acceptedPushes.count == 2_000 + singles)
      }
    }
  }

  @Test(
    "connections that have all come to a bad server, which calls every request malformed, reject nothing",
    arguments: [1, 4])
  func survivesConnectionsToOneBadServer(connections: Int) async throws {
    let worker = WorkerConfiguration(
      lanes: 1, connectionsPerLane: connections, drainSeconds: 5, leaseSeconds: 10,
      requestTimeoutSeconds: 5)
    try await PushStage.with(script: .stage(), worker: worker, mostlyWaits: true) { stage in
      let client = stage.client
      let (before, all, singles) = (100, 1_100, 20)
      try await client.install(try Devices.apns(0..<all + singles))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("before", 0..<before))
        stage.expectDelivered(try await client.finished("before"), before)
        _ = try await eventually("all connections are open") {
          stage.simulator.counters.connectionsOpened >= connections ? true : nil
        }
        // The next comes to that server, too: it may be the one for pushes apart. All others reach another server.
        let bad = stage.simulator.counters.connectionsOpened + 1
        stage.simulator.script = .stage {
          $0.rules = (1...bad).map { number in
            var rule = ScriptRule(action: .reset)
            rule.resetCode = 1
            rule.connection = number
            return rule
          }
        }
        _ = try await client.enqueue(Devices.job("many", before..<all))
        for number in 0..<singles {
          _ = try await client.enqueue(Devices.job("one\(number)", all + number..<all + number + 1))
        }
        for id in ["many"] + (0..<singles).map({ "one\($0)" }) {
          // No retry is hurried: until another server is reached, each may be an attempt of many pushes.
          let record = try await client.finished(id, withinSeconds: 240)
          #expect(record.counts.rejected == 0 && record.counts.failed == 0, "\(id)")
          #expect(record.counts.accepted == (id == "many" ? all - before : 1), "\(id)")
        }
      }
      #expect(stage.simulator.counters.resets > 0 && stage.duplicates == 0)
    }
  }

  /// How the first connection is bad.
  enum BadServer: CaseIterable {
    case unavailable, refuses, resets, page, silent

    var rule: ScriptRule {
      var rule =
        switch self {
        case .unavailable: ScriptRule(status: 503, reason: "ServiceUnavailable")
        case .refuses: ScriptRule(status: 403, reason: "InvalidProviderToken")
        case .resets: ScriptRule(action: .reset)
        case .page: ScriptRule(status: 200)
        case .silent: ScriptRule(action: .stall)
        }
      if self == .page { rule.body = "<html>welcome</html>" }
      rule.connection = 1
      return rule
    }
  }

  @Test("limits of 0 are refused with a sentence and never block (gorush#536)")
  func refusesLimitsOfZero() throws {
    for field in [
      "connections_per_lane", "streams_per_connection", "lease_seconds",
      "request_timeout_seconds",
    ] {
      let error = #expect(throws: ConfigurationError.self) {
        try Configuration.parse("worker: {\(field): 0}", file: "pushpool.yaml")
      }
      #expect(error?.field == "worker.\(field)")
    }
  }

  @Test("a provider that allows no streams for a while blocks nothing for ever (gorush#536)")
  func survivesLimitOfZero() async throws {
    let script = SimulatorScript.stage {
      $0.delayMs = 100
      // The second step comes with a request whose headers were sent before the first took effect, along with
      // those of the same round.
      $0.maxConcurrentStreams = [
        SimulatorScript.StreamLimitStep(after: 4, value: 0),
        SimulatorScript.StreamLimitStep(after: 12, value: 100),
      ]
    }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(try Devices.apns(0..<400))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("shut", 0..<400))
        stage.expectDelivered(try await stage.client.finishedInHaste("shut"), 400)
      }
    }
  }

  @Test("pushes whose connection is cut are sent again, those with an answer are not")
  func survivesCutConnections() async throws {
    let script = SimulatorScript.stage { $0.dropConnectionAfter = 300 }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(try Devices.apns(0..<2_000))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("cut", 0..<2_000))
        // After two the worker stops in time by itself.
        _ = try await eventually("connections are cut") {
          stage.simulator.counters.drops >= 2 ? true : nil
        }
        stage.simulator.script = .stage()
        let record = try await stage.client.finishedInHaste("cut")
        #expect(record.counts.accepted == 2_000)
        #expect(record.isBalanced)
      }
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 2_000)
    }
  }
}
