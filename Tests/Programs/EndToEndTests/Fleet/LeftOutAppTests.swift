import Foundation
import LocalServices
import Logging
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Testing
import Worker

/// An app whose key is not there keeps no other from being sent for, and loses nothing.
@Suite struct LeftOutAppTests {
  private static let twoApps = PushStage.Endpoints(moreApps: ["news"])

  private static func news(_ job: String) -> String {
    job.replacing("\"shop\"", with: "\"news\"")
  }

  @Test(
    "jobs of an app with a missing key wait for as long as it is missing, and are sent when it is there"
  )
  func waits() async throws {
    try await PushStage.with(endpoints: Self.twoApps) { stage in
      let client = stage.client
      var configuration = stage.configuration
      // Whoever else lacks the app would have given its jobs up by then.
      configuration.worker.unroutedSeconds = 1
      let index = try #require(configuration.apps.firstIndex { $0.id == "news" })
      let apns = try #require(configuration.apps[index].apns[.production])
      guard case .token(let keyFile, let keyID, let teamID) = apns.credential else {
        Issue.record("the stage has no key")
        return
      }
      let late = keyFile + ".late"
      configuration.apps[index].apns[.production]?.credential = .token(
        keyFile: late, keyID: keyID, teamID: teamID)
      try await client.install(try Devices.apns(0..<100))
      try await client.install(
        try Devices.apns(0..<100).map {
          var installation = $0
          installation.app = "news"
          return installation
        })
      try await stage.withWorkers(of: configuration) { _ in
        let startedMs = Double(try await client.serverMs())
        for number in 0..<20 {
          _ = try await client.enqueue(
            Self.news(Devices.job("late-\(number)", number..<(number + 1))))
        }
        _ = try await client.enqueue(Self.news(Devices.job("campaign", 0..<100)))
        _ = try await client.enqueue(Devices.job("sale", 0..<100))
        let record = try await client.finished("sale")
        #expect(record.counts.accepted == 100)
        let told = try await eventually("the alarms stand, after the fleet has gathered") {
          let said = try await client.command(
            "ZRANGE", "pushpool:routes", "0", "-1", "WITHSCORES")
          let times = (said.array ?? []).compactMap { $0.string.flatMap(Double.init) }
          let alarms = try await client.alarms()
          let fields = Set(alarms.map(\.field))
          return times.contains { $0 > startedMs + 7_500 }
            && fields.isSuperset(of: ["left_out|news", "no_worker|news"]) ? alarms : nil
        }
        let own = try #require(told.first { $0.field == "left_out|news" })
        #expect(own.message.contains(late) && own.message.contains("its jobs wait"))
        let waiting = try #require(told.first { $0.field == "no_worker|news" })
        #expect(waiting.message.contains("left out"))
        #expect(try await client.length("dead") == 0)

        try FileManager.default.copyItem(atPath: keyFile, toPath: late)
        for number in 0..<20 {
          let record = try await client.finished("late-\(number)", app: "news")
          #expect(record.counts.accepted == 1)
        }
        let campaign = try await client.finished("campaign", app: "news")
        #expect(campaign.counts.accepted == 100 && campaign.isBalanced)
        _ = try await eventually("the alarms end") {
          try await client.alarms().isEmpty ? true : nil
        }
        #expect(try await client.length("dead") == 0)
      }
    }
  }

  @Test("a worker without any app left does not start, nor a strict one without all")
  func refuses() async throws {
    try await PushStage.with(endpoints: Self.twoApps) { stage in
      var configuration = stage.configuration
      let index = try #require(configuration.apps.firstIndex { $0.id == "news" })
      configuration.apps[index].fcm?.serviceAccountFile = "/nowhere.json"
      configuration.apps[index].apns = [:]
      configuration.apps[index].fcm =
        configuration.apps[index].fcm ?? FCMConfiguration(serviceAccountFile: "/nowhere.json")
      let log = Logger(label: "pushpool.test")
      #expect(throws: ConfigurationError.self) {
        try WorkerService(configuration: configuration, isStrict: true, logger: log)
      }
      configuration.apps = [configuration.apps[index]]
      #expect(throws: ConfigurationError.self) {
        try WorkerService(configuration: configuration, logger: log)
      }
    }
  }
}
