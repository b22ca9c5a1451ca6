import Model
import PushpoolConfiguration
import Redis
import Testing

@testable import Worker

/// How long records are kept, from the configuration and the job to Redis.
@Suite struct AdmittedRetentionTests {
  private static func job(_ members: String) -> String {
    #"{"app":"shop","audience":{"users":["a"]},"notification":{"title":"Hi"},\#(members)}"#
  }

  @Test("a job's own figure reaches Redis, and what does not end well keeps the configuration's")
  func own() async throws {
    try await LaneStage.with { _, stage in
      try await stage.takeIn(Self.job(#""id":"j","retention_seconds":60"#))
      try await stage.takeIn(Self.job(#""id":"k""#))
      let kept: [(id: String, otherwise: String, well: String?)] = [
        ("j", "7200", "60"), ("k", "7200", nil),
      ]
      for (id, otherwise, well) in kept {
        let fields = try await stage.redis(
          "HMGET", "{pp}:job:shop:\(id)", "retention", "retention_well")
        #expect(fields.array?.map(\.string) == [otherwise, well], "\(id)")
      }
    }
  }

  @Test("an app's own rule holds for its jobs alone")
  func ofApps() {
    func app(_ id: String, _ jobs: JobsConfiguration?) -> AppConfiguration {
      var app = AppConfiguration(id: id)
      app.jobs = jobs
      return app
    }
    let rules = RetentionRules(
      Configuration(
        jobs: JobsConfiguration(retentionHours: 48),
        apps: [app("shop", nil), app("bank", JobsConfiguration(retentionHours: 1))]))
    #expect(rules["shop"] == rules.usual && rules["shop"].manySeconds == 172_800)
    #expect(rules["bank"].manySeconds == 3_600 && rules["bank"].namedSeconds == 3_600)
    #expect(rules["nobody"] == rules.usual)
  }
}
