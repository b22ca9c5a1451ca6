import Foundation
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing
import Worker

/// Workers of unequal configuration: what one has no credentials for is sent by another.
@Suite struct RouteTests {
  private static let twoApps = PushStage.Endpoints(moreApps: ["news"])

  private static func news(_ installations: [Installation]) -> [Installation] {
    installations.map {
      var installation = $0
      installation.app = "news"
      return installation
    }
  }

  private static func newsJob(_ id: String, _ users: Range<Int>, _ more: String = "") -> String {
    Devices.job(id, users, more).replacing("\"shop\"", with: "\"news\"")
  }

  @Test("jobs and campaigns of an app that one of two workers lacks are all sent by the other")
  func sendsWhatOneWorkerLacks() async throws {
    try await PushStage.with(endpoints: Self.twoApps) { stage in
      let client = stage.client
      try await client.install(Self.news(try Devices.apns(0..<3_000)))
      try await stage.withWorkers(1, of: stage.without(app: "news")) { _ in
        try await stage.withWorkers { _ in
          try await stage.waitUntilBeating(2)
          for number in 0..<200 {
            _ = try await client.enqueue(Self.newsJob("one-\(number)", number..<(number + 1)))
          }
          for number in 0..<200 {
            let record = try await client.finished("one-\(number)", app: "news")
            #expect(record.counts.accepted == 1)
          }
          _ = try await client.enqueue(Self.newsJob("sale", 0..<3_000))
          let record = try await client.finished("sale", app: "news")
          #expect(record.counts.accepted == 3_000)
          #expect(record.counts.retries == 0)
          #expect(record.isBalanced)
        }
      }
      #expect(stage.simulator.counters.accepted == 3_200)
      #expect(try await client.length("dead") == 0)
      #expect(try await client.alarms().isEmpty)
    }
  }

  @Test("pushes on a network that one of two workers lacks are all sent by the other")
  func sendsOnNetworkThatOneLacks() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_500) + Devices.fcm(0..<1_500))
      try await stage.withWorkers(1, of: stage.withoutFCM) { _ in
        try await stage.withWorkers { _ in
          try await stage.waitUntilBeating(2)
          _ = try await client.enqueue(Devices.job("sale", 0..<1_500))
          let record = try await client.finished("sale")
          stage.expectDelivered(record, 3_000)
          #expect(record.counts.retries == 0)
        }
      }
      #expect(try await client.alarms().isEmpty)
    }
  }

  @Test(
    "a token of the environment that a worker lacks is tried there by another, and not removed",
    arguments: [true, false])
  func healsBeyondOwnEnvironments(otherHasBoth: Bool) async throws {
    let script = SimulatorScript.stage { $0.developmentTokenPrefix = "de" }
    let both = PushStage.Endpoints(hasDevelopment: true)
    try await PushStage.with(script: script, endpoints: both) { stage in
      let client = stage.client
      let development = try #require(stage.development)
      let other = otherHasBoth ? stage.configuration : stage.without(.production)
      var labelled = try Devices.apns(100..<200, prefix: "de")
      for index in labelled.indices { labelled[index].environment = .development }
      try await client.install(try Devices.apns(0..<100, prefix: "de") + labelled)
      try await stage.withWorkers(1, of: stage.without(.development)) { _ in
        // It learns that there is another, and has all the work to itself while that one is away.
        try await stage.withWorkers(1, of: other) { _ in
          try await stage.waitUntilBeating(2)
          _ = try await client.enqueue(Devices.job("known", 300..<301))
          _ = try await client.finished("known")
          let startedMs = Double(try await client.serverMs())
          _ = try await eventually("both have said what they can send to, and heard it") {
            let said = try await client.command(
              "ZRANGE", "pushpool:routes", "0", "-1", "WITHSCORES")
            let times = (said.array ?? []).compactMap { $0.string.flatMap(Double.init) }
            return times.count { $0 > startedMs + 2_000 } == 2 ? true : nil
          }
        }
        _ = try await client.enqueue(Devices.job("sale", 0..<200))
        let waiting = "pushpool:unrouted:chunks:shop|apns|development"
        _ = try await eventually("all wait") {
          let record = try await client.record("sale")
          let hasWaiting = try await client.command("ZCARD", waiting).integer ?? 0 > 0
          return record?.pending == 200 && hasWaiting && record?.counts.retries == 100 ? true : nil
        }
        try await stage.withWorkers(1, of: other) { _ in
          let record = try await client.finished("sale")
          #expect(record.counts.accepted == 200)
          #expect(record.isBalanced)
        }
      }
      #expect(development.counters.accepted == 200)
      #expect(try await client.length("uninstalled") == 0)
    }
  }

  @Test("what nobody has credentials for is skipped at once, without an alarm")
  func skipsWhatNobodyCanSend() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<300) + Devices.fcm(0..<300))
      try await stage.withWorkers(2, of: stage.withoutFCM) { _ in
        try await stage.waitUntilBeating(2)
        _ = try await client.enqueue(Devices.job("sale", 0..<300))
        let record = try await client.finished("sale")
        #expect(record.counts.accepted == 300)
        #expect(record.counts.skipped == 300)
        #expect(record.isBalanced)
      }
      #expect(try await client.alarms().isEmpty)
      #expect(try await client.length("dead") == 0)
    }
  }

  @Test("jobs wait for the worker that brings their app, with an alarm that names the app meant")
  func waitsForWorker() async throws {
    try await PushStage.with(endpoints: Self.twoApps) { stage in
      let client = stage.client
      try await client.install(Self.news(try Devices.apns(0..<2_000)))
      try await stage.withWorkers(1, of: stage.without(app: "news")) { _ in
        for number in 0..<50 {
          _ = try await client.enqueue(Self.newsJob("one-\(number)", number..<(number + 1)))
        }
        _ = try await client.enqueue(Self.newsJob("sale", 0..<2_000))
        _ = try await client.enqueue(Devices.job("typo", 0..<1).replacing("shop", with: "shpo"))
        let alarms = try await eventually("nobody has the apps") {
          let alarms = try await client.alarms()
          return alarms.count == 2 ? alarms : nil
        }
        #expect(Set(alarms.map(\.field)) == ["no_worker|news", "no_worker|shpo"])
        #expect(alarms.contains { $0.message.contains("did you mean \"shop\"?") })
        #expect(try await client.record("sale", app: "news") == nil)
        try await stage.withWorkers { _ in
          for number in 0..<50 {
            #expect(try await client.finished("one-\(number)", app: "news").counts.accepted == 1)
          }
          let record = try await client.finished("sale", app: "news")
          #expect(record.counts.accepted == 2_000)
          _ = try await eventually("the alarm ends") {
            try await client.alarms().map(\.field) == ["no_worker|shpo"] ? true : nil
          }
        }
      }
      #expect(try await client.length("dead") == 0)
    }
  }

  @Test("a job of an app that no worker has becomes a dead letter in time, and can be retried")
  func givesUpInTheEnd() async throws {
    try await PushStage.with(worker: .giveUp(afterSeconds: 1), endpoints: Self.twoApps) { stage in
      let client = stage.client
      try await client.install(Self.news(try Devices.apns(0..<1)))
      try await stage.withWorkers(1, of: stage.without(app: "news")) { _ in
        _ = try await client.enqueue(Self.newsJob("early", 0..<1))
        _ = try await eventually("it is a dead letter") {
          try await client.length("dead") == 1 ? true : nil
        }
        let letter = try #require(try await client.entries("dead").first)
        #expect(letter["reason"] == "unknown_app")
        #expect(letter["field"] == "/app")
        #expect(letter["id"] == "early")
        #expect(try await client.length("jobs:normal") == 0)
        _ = try await eventually("the alarm ends") {
          try await client.alarms().isEmpty ? true : nil
        }
        try await stage.withWorkers { _ in
          try await stage.waitUntilBeating(2)
          #expect(try await stage.pushpool("dead", "retry", "--all", "--yes").exit == .code(0))
          #expect(try await client.finished("early", app: "news").counts.accepted == 1)
        }
      }
    }
  }

  @Test("who waits for a job is told at once that no worker has its app, and what was meant")
  func tellsWhoWaits() async throws {
    try await PushStage.with(worker: .giveUp(afterSeconds: 3)) { stage in
      let job = stage.folder.file("job.json")
      try Devices.job("typo", 0..<1).replacing("\"shop\"", with: "\"shpo\"")
        .write(toFile: job, atomically: true, encoding: .utf8)
      try await stage.withWorkers { _ in
        let waited = try await stage.pushpool("enqueue", job, "--wait")
        #expect(waited.exit == .code(65))
        // While it waits, and when it is given up.
        let told = waited.error.split(separator: "\n").filter {
          $0.contains("no worker has the app \"shpo\"")
        }
        #expect(told.count == 2)
        #expect(told.allSatisfy { $0.contains("did you mean \"shop\"?") })
        #expect(told.last?.contains("unknown_app") == true)
      }
    }
  }

  @Test("a campaign goes on where the only worker that has its app or network is started again")
  func survivesRestartOfTheOnlyOne() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 20 }
    var worker = WorkerConfiguration.narrow(50)
    worker.unroutedSeconds = 600
    try await PushStage.with(script: script, worker: worker, endpoints: Self.twoApps) { stage in
      let client = stage.client
      try await client.install(Self.news(try Devices.apns(0..<2_000)))
      try await client.install(try Devices.fcm(0..<2_000))
      var less = stage.without(app: "news")
      less.apps[0].fcm = nil
      try await stage.withWorkers(1, of: less) { _ in
        try await stage.withWorkers { _ in
          try await stage.waitUntilBeating(2)
          _ = try await client.enqueue(Self.newsJob("sale", 0..<2_000))
          _ = try await client.enqueue(Devices.job("sale", 0..<2_000))
          try await stage.waitUntilAccepted(500)
        }
        _ = try await eventually("it is noticed that nobody has them") {
          Set(try await client.alarms().map(\.field)).isSuperset(
            of: ["no_worker|shop|fcm|production"]) ? true : nil
        }
        try await stage.withWorkers { _ in
          for app in ["news", "shop"] {
            let record = try await client.finished("sale", app: app)
            #expect(record.counts.accepted == 2_000)
            #expect(record.counts.skipped == 0)
            #expect(record.isBalanced)
          }
        }
      }
      #expect(stage.simulator.counters.accepted == 4_000)
      #expect(try await client.length("dead") == 0)
    }
  }

  @Test("pushes on a network that no worker has any more become dead letters, and can be retried")
  func givesUpPushes() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 20 }
    var worker = WorkerConfiguration.narrow(20)
    worker.unroutedSeconds = 8
    try await PushStage.with(script: script, worker: worker) { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<1_000))
      try await stage.withWorkers(1, of: stage.withoutFCM) { _ in
        try await stage.withWorkers { _ in
          try await stage.waitUntilBeating(2)
          _ = try await client.enqueue(Devices.job("sale", 0..<1_000))
          try await stage.waitUntilAccepted(100)
        }
        let record = try await client.finished("sale")
        #expect(record.counts.failed > 0)
        #expect(record.isBalanced)
        #expect(try await client.entries("dead").allSatisfy { $0["reason"] == "no_worker" })
        try await stage.withWorkers { _ in
          try await stage.waitUntilBeating(2)
          #expect(try await stage.pushpool("dead", "retry", "--all", "--yes").exit == .code(0))
          let healed = try await client.finished("sale")
          // What came to the one without FCM when nobody had had it for so long is skipped.
          #expect(healed.counts.accepted + healed.counts.skipped == 1_000)
          #expect(healed.counts.failed == 0)
        }
      }
    }
  }

  @Test("what waits for a worker can be cancelled and paused, and expires")
  func obeysOperators() async throws {
    try await PushStage.with(endpoints: Self.twoApps) { stage in
      let client = stage.client
      try await client.install(Self.news(try Devices.apns(0..<10)))
      try await stage.withWorkers(1, of: stage.without(app: "news")) { _ in
        for name in ["cancelled", "paused", "expired", "sent"] {
          let ttl = name == "expired" ? #", "ttl_seconds": 1"# : ""
          _ = try await client.enqueue(Self.newsJob(name, 0..<10, ttl))
        }
        _ = try await eventually("they wait") {
          try await client.command("ZCARD", "pushpool:unrouted:jobs:news").integer == 4 ? true : nil
        }
        for (name, command) in [("cancelled", "cancel"), ("paused", "pause")] {
          let answer = try await stage.pushpool("job", name, "--app", "news", command)
          #expect(answer.exit == .code(0))
        }
        _ = try await client.command("HSET", "pushpool:switches", "app|news", "not yet")
        let enqueuedMs = try await client.serverMs()
        try await stage.withWorkers { _ in
          let cancelled = try await eventually("it is ended") {
            let record = try await client.record("cancelled", app: "news")
            return record?.isAdmitted == true && record?.pending == 0 ? record : nil
          }
          #expect(cancelled.state == .cancelled)
          #expect(cancelled.counts.skipped == 10)
          _ = try await eventually("its second is over") {
            try await client.serverMs() > enqueuedMs + 1_500 ? true : nil
          }
          #expect(try await client.finished("expired", app: "news").counts.expired == 10)
          #expect(stage.simulator.counters.accepted == 0)
          _ = try await client.command("HDEL", "pushpool:switches", "app|news")
          #expect(try await client.finished("sent", app: "news").counts.accepted == 10)
          #expect(try await client.record("paused", app: "news")?.state == .paused)
          _ = try await client.resume("paused", app: "news")
          #expect(try await client.finished("paused", app: "news").counts.accepted == 10)
        }
      }
      #expect(stage.simulator.counters.accepted == 20)
    }
  }

  @Test("a trace tells that a push was left to a worker with credentials, or that there is none")
  func isTraced() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.fcm(0..<1))
      try await stage.withWorkers(1, of: stage.withoutFCM) { _ in
        _ = try await client.enqueue(Devices.job("skipped", 0..<1))
        #expect(try await client.finished("skipped").counts.skipped == 1)
        let trace = try await eventually("it is recorded") {
          let trace = try await stage.pushpool(
            "trace", "--app", "shop", "--job", "skipped", "--user", "u0", "--json")
          return trace.output.contains("no_credentials") ? trace : nil
        }
        #expect(trace.exit == .code(0))
        #expect(trace.output.contains("other_worker"))
        #expect(trace.output.contains("\"skipped\""))
      }
    }
  }
}

extension WorkerConfiguration {
  fileprivate static func giveUp(afterSeconds seconds: Int) -> WorkerConfiguration {
    WorkerConfiguration(lanes: 1, drainSeconds: 5, leaseSeconds: 10, unroutedSeconds: seconds)
  }
}

extension PushStage {
  fileprivate func without(app: String) -> Configuration {
    var less = configuration
    less.apps.removeAll { $0.id == app }
    return less
  }

  fileprivate func without(_ environment: PushEnvironment) -> Configuration {
    var less = configuration
    for index in less.apps.indices { less.apps[index].apns[environment] = nil }
    return less
  }

  fileprivate var withoutFCM: Configuration {
    var less = configuration
    for index in less.apps.indices { less.apps[index].fcm = nil }
    return less
  }
}
