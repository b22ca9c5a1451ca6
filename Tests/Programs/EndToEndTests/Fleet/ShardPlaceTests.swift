import Model
import Redis
import Simulator
import Testing
import Worker

/// Workers of a fleet with two shards, one of whose places is not, or is no longer, the shard that the configuration says.
@Suite struct ShardPlaceTests {
  @Test("nothing is sent from a Redis that is another shard than the configuration says")
  func misplaced() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<20)
      // As when the two addresses are exchanged.
      _ = try await euClient.command("SET", "pushpool:shard", "us")
      _ = try await client.enqueue(Devices.job("sale", 0..<20))
      _ = try await euClient.enqueue(ShardStage.other("sale", 0..<20))
      try await stage.withWorkers(of: fleet.configuration) { workers in
        #expect(try await client.finished("sale").counts.accepted == 20)
        #expect(try await client.command("GET", "pushpool:shard").string == "main")
        #expect(try await ShardStage.beat(workers[0].name, euClient) == 0)
        #expect(try await euClient.length("jobs:normal") == 1)
        // It is the right one after all.
        _ = try await euClient.command("DEL", "pushpool:shard")
        #expect(try await euClient.finished("sale", app: "other").counts.accepted == 20)
      }
      #expect(stage.duplicates == 0 && stage.simulator.acceptedPushes.count == 40)
    }
  }

  @Test("nothing is taken from a Redis that becomes another shard's under a worker")
  func replaced() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<20)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        _ = try await euClient.enqueue(ShardStage.other("before", 0..<20))
        #expect(try await euClient.finished("before", app: "other").counts.accepted == 20)
        // As when its address leads elsewhere, or a failover does.
        _ = try await euClient.command("SET", "pushpool:shard", "us")
        try await Self.cut(euClient)
        let last = try await ShardStage.beat(workers[0].name, euClient)
        _ = try await euClient.enqueue(ShardStage.other("other", 0..<20))
        _ = try await client.enqueue(Devices.job("sale", 0..<20))
        #expect(try await client.finished("sale").counts.accepted == 20)
        #expect(try await euClient.length("jobs:normal") == 1)
        #expect(try await ShardStage.beat(workers[0].name, euClient) == last)
        _ = try await euClient.command("DEL", "pushpool:shard")
        #expect(try await euClient.finished("other", app: "other").counts.accepted == 20)
        _ = try await eventually("it has its name again") {
          try await euClient.command("GET", "pushpool:shard").string == "eu" ? true : nil
        }
      }
      #expect(stage.simulator.acceptedPushes.count == 60)
    }
  }

  /// Has all that are connected to a Redis connect anew.
  private static func cut(_ client: StageClient) async throws {
    _ = try await client.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
  }

  @Test(
    "a place that has lost its name under a worker is claimed anew, unless it has users of another shard's app"
  )
  func nameless() async throws {
    try await ShardStage.with { fleet in
      let (stage, client, euClient) = (fleet.stage, fleet.stage.client, fleet.euClient)
      try await fleet.install(0..<20)
      try await stage.withWorkers(of: fleet.configuration) { workers in
        _ = try await euClient.enqueue(ShardStage.other("before", 0..<20))
        #expect(try await euClient.finished("before", app: "other").counts.accepted == 20)
        // As in a Redis of a time when there were no shards: `shop` lives in `main`.
        try await euClient.install(try Devices.apns(0..<1))
        _ = try await euClient.command("DEL", "pushpool:shard")
        try await Self.cut(euClient)
        let last = try await ShardStage.beat(workers[0].name, euClient)
        _ = try await euClient.enqueue(ShardStage.other("other", 0..<20))
        // Longer than it takes to look once a second whose the place is.
        for id in ["a", "b", "c"] {
          _ = try await client.enqueue(Devices.job(id, 0..<20))
          #expect(try await client.finished(id).counts.accepted == 20)
          let beat = try await ShardStage.beat(workers[0].name, client)
          _ = try await eventually("it beats at home") {
            try await ShardStage.beat(workers[0].name, client) > beat ? true : nil
          }
        }
        #expect(try await euClient.command("EXISTS", "pushpool:shard").integer == 0)
        #expect(try await euClient.length("jobs:normal") == 1)
        #expect(try await ShardStage.beat(workers[0].name, euClient) == last)
        // Somebody has looked, and says whose it is.
        _ = try await euClient.command("SET", "pushpool:shard", "eu")
        #expect(try await euClient.finished("other", app: "other").counts.accepted == 20)
      }
      // Five jobs go to 20 devices each.
      #expect(stage.simulator.acceptedPushes.count == 100)
    }
  }
}
