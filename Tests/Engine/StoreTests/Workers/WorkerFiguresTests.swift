import Model
import Reactor
import Testing

@testable import Store

@Suite struct WorkerFiguresTests {
  private static func times(_ ns: UInt64...) -> DurationHistogram {
    var times = DurationHistogram(boundsUs: [1_000, 10_000])
    for ns in ns { times.add(ns) }
    return times
  }

  private static func connections(_ numbers: [Int]) -> WorkerFigures.Connections {
    var connections = WorkerFigures.Connections()
    connections.streamsUsed = numbers[0]
    connections.streamsAllowed = numbers[1]
    connections.count = numbers[2]
    connections.goAways = numbers[3]
    return connections
  }

  private static var some: WorkerFigures {
    var figures = WorkerFigures()
    figures.cpuMs = 1_234
    figures.openFiles = 40
    figures.openFilesMax = 1_024
    figures.connections = [
      .apns: connections([3, 1_000, 2, 1]), .jpush: connections([0, 8, 1, 0]),
    ]
    figures.answers = [.apns: times(500_000, 5_000_000)]
    figures.redis = times(200_000)
    figures.lag = times(50_000_000)
    return figures
  }

  @Test("a beat carries them, and whoever reads it has them again")
  func comesBack() async throws {
    try await Lane.withStore { _, store in
      let own = [("host", "a"), ("lanes", "2")]
      let now = try await store.workers.beat(worker: "w", fields: own + Self.some.fields)
      // Those who read it now and then tell what was told last.
      try await store.workers.beat(worker: "w", fields: own)
      let worker = try #require(
        try await store.workers.beating(sinceMs: now - 1_000, max: 1).read.first)
      #expect(WorkerFigures(worker.fields) == Self.some)
      #expect(worker.fields["networks"] == "apns:3/1000/2/1 jpush:0/8/1/0")
      #expect(worker.fields["answers_apns"] == "1000:1 10000:1 +:0 sum:5500")
    }
  }

  @Test("a worker of an older version has none")
  func older() {
    #expect(WorkerFigures(["host": "a", "lanes": "2", "rss_bytes": "5"]) == nil)
  }

  @Test("what cannot be read is left out, and the rest is told")
  func passesOver() {
    let figures = WorkerFigures([
      "cpu_ms": "5", "open_files": "many", "open_files_max": "-1",
      "networks": "apns:1/2/3 sms:1/2/3/4 fcm:1/2/3/4 jpush:1/2/3/4 apns:1/2/3/4",
      "answers_apns": "x", "redis_times": "+:1 sum:5", "loop_lag": "",
    ])
    #expect(figures?.cpuMs == 5 && figures?.openFiles == 0 && figures?.openFilesMax == 0)
    #expect(figures?.connections == [.fcm: Self.connections([1, 2, 3, 4])])
    #expect(figures?.answers == [:] && figures?.lag == nil)
    #expect(figures?.redis?.counts == [1])
    for field in ["cpu_ms", "rss_bytes", "lanes"] { #expect(!WorkerFigures.isForMonitors(field)) }
    for field in ["networks", "answers_fcm", "redis_times", "loop_lag"] {
      #expect(WorkerFigures.isForMonitors(field))
    }
  }

  @Test("those of two lanes add up")
  func addsUp() {
    var sum = WorkerFigures()
    sum += Self.some
    var more = WorkerFigures()
    more.connections = [.apns: Self.connections([1, 500, 1, 2])]
    more.answers = [.apns: Self.times(900_000), .fcm: Self.times(1)]
    more.redis = Self.times(1)
    sum += more
    #expect(sum.connections[.apns] == Self.connections([4, 1_500, 3, 3]))
    #expect(sum.answers[.apns]?.counts == [2, 1, 0] && sum.answers[.fcm]?.counts == [1, 0, 0])
    #expect(sum.redis?.counts == [2, 0, 0] && sum.lag == Self.times(50_000_000))
  }
}
