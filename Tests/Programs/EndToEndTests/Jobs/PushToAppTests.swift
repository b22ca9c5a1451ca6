import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Simulator

/// Events that tell an app of a change in a bucket, on all networks.
@Suite struct PushToAppTests {
  private static let three = PushStage.Endpoints(hasJPush: true)

  /// A job that tells the users of these numbers of a change; `more` is further members of the event.
  private static func job(
    _ id: String, _ users: Range<Int>, bucket: String = "orders", _ more: String = ""
  ) -> String {
    let names = users.map { "\"u\($0)\"" }.joined(separator: ",")
    return """
      {"id": "\(id)", "app": "shop", "audience": {"users": [\(names)]}, "kind": "push_to_app",
       "event": {"bucket_id": "\(bucket)", "bucket_type": "rw", "type": "DATA_OBJECT_UPDATED",
         "object_id": "o1", "object_scope_app_id": "a1", "object_scope_type": "APP_AND_USER",
         "object_scope_user_id": "u7"\(more)}}
      """
  }

  private static func hash(_ text: String) -> UInt64 {
    Array(text.utf8).withUnsafeBytes { BodyHash.of($0) }
  }

  @Test("an event reaches all three networks under their names, silent, with the time of its job")
  func delivers() async throws {
    // Each network's first answer has the push sent again: the time stays as it was.
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(network: .apns, status: 503, reason: "ServiceUnavailable", times: 1),
        ScriptRule(network: .fcm, status: 503, reason: "UNAVAILABLE", times: 1),
      ]
    }
    try await PushStage.with(script: script, endpoints: Self.three) { stage in
      let client = stage.client
      let apns = try Devices.apns(1)
      let fcm = try Devices.fcm(1)
      try await client.install([apns, fcm, try Devices.jpush(1)])
      let record = try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("changed", 1..<2))
        return try await client.finishedInHaste("changed")
      }
      stage.expectDelivered(record, 3)
      #expect(record.counts.retries == 2)
      let createdAtMs = try #require(record.createdAtMs)
      let hashes = Dictionary(
        stage.simulator.acceptedPushes.map { ($0.network, $0.bodyHash) }, uniquingKeysWith: { $1 })
      #expect(
        hashes[.apns]
          == Self.hash(
            #"{"bi":"orders","bt":"rw","t":"DATA_OBJECT_UPDATED","oi":"o1","sa":"a1","#
              + #""st":"APP_AND_USER","su":"u7","w":\#(createdAtMs),"aps":{"content-available":1}}"#
          ))
      #expect(
        hashes[.fcm]
          == Self.hash(
            #"{"message":{"token":"\#(fcm.token.text)","data":{"bucketID":"orders","#
              + #""bucketType":"rw","type":"DATA_OBJECT_UPDATED","objectID":"o1","#
              + #""objectScopeAppID":"a1","objectScopeType":"APP_AND_USER","#
              + #""objectScopeUserID":"u7","when":"\#(createdAtMs)"},"#
              + #""android":{"priority":"NORMAL"}}}"#))
    }
  }

  @Test(
    "a bucket that is switched off holds its events, queued and in flight, and sends all of them when it is on"
  )
  func stopsBucket() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(20)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_000))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("running", 0..<1_000))
        try await stage.waitUntilAccepted(100)
        _ = try await client.command("HSET", "pushpool:switches", "bucket|shop|orders", "a loop")
        let offMs = try await client.serverMs()
        // What comes now waits, and what is about another bucket, or about none, does not.
        _ = try await client.enqueue(Self.job("queued", 0..<1))
        _ = try await client.enqueue(Self.job("other", 1_000..<1_001, bucket: "carts"))
        try await client.install([try Devices.apns(1_001)])
        _ = try await client.enqueue(Devices.job("plain", 1_001..<1_002))
        #expect(try await client.finished("plain").counts.accepted == 1)
        #expect(try await client.finished("other").counts.noInstallations == 1)
        _ = try await eventually("nothing is in hand") {
          let isLate = try await client.serverMs() > offMs + PushStage.promptMs + 1_000
          return try await client.claimedChunks() == 0 && isLate ? true : nil
        }
        let late = stage.simulator.acceptedPushes.filter {
          $0.acceptedAtMs > offMs + PushStage.promptMs
        }
        #expect(late.allSatisfy { $0.token.hasSuffix("3e9") })
        let resting = try #require(try await client.record("running"))
        #expect(resting.isBalanced && resting.pending > 0 && resting.counts.retries == 0)
        #expect(try await client.record("queued")?.pending == 1)
        let on = try await stage.pushpool("switch", "on", "--app", "shop", "--bucket", "orders")
        #expect(on.exit == .code(0), "\(on.error)")
        for (id, count) in [("running", 1_000), ("queued", 1)] {
          let record = try await client.finished(id, withinSeconds: 18)
          #expect(record.counts.accepted == count && record.isBalanced)
          #expect(record.counts.retries == 0)
        }
      }
      #expect(try await client.entries("uninstalled").isEmpty)
      // One each, and the event that waited.
      #expect(stage.simulator.counters.accepted == 1_002)
    }
  }

  @Test("events that come too fast wait for their turn")
  func spacesLoops() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install([try Devices.apns(0)])
      try await stage.withWorkers { _ in
        // As if a loop had used up the turns of the next moment: ten a second are given by default.
        let turnMs = try await client.serverMs() + 1_000
        _ = try await client.command("SET", "pushpool:loop:shop:orders", "\(turnMs)")
        _ = try await client.enqueue(Self.job("waits", 0..<1))
        let record = try await client.finished("waits")
        #expect(record.counts.accepted == 1)
        #expect(try #require(record.startedAtMs) >= turnMs + 100)
      }
    }
  }

  @Test("events that would wait for over a minute become dead letters, which can be retried")
  func refusesLoops() async throws {
    // One a minute: for a minute after the turns were used up a further event is refused, however late it is taken.
    try await PushStage.with(configure: { $0.apps[0].eventsPerMinute = 1 }) { stage in
      let client = stage.client
      let key = "pushpool:loop:shop:orders"
      try await client.install([try Devices.apns(0)])
      try await stage.withWorkers { _ in
        // Not a whole minute: turns further ahead than that come from a clock that was set back.
        _ = try await client.command("SET", key, "\(try await client.serverMs() + 59_000)")
        _ = try await client.enqueue(Self.job("refused", 0..<1))
        _ = try await client.enqueue(Self.job("other", 0..<1, bucket: "carts"))
        #expect(try await client.finished("other").counts.accepted == 1)
        let letter = try await eventually("it is a dead letter") {
          try await client.entries("dead").first
        }
        #expect(letter["reason"] == "loop_guard" && letter["id"] == "refused")
        #expect(try await client.alarms().map(\.field) == ["loop|shop|orders"])
        _ = try await client.command("DEL", key)
        let retry = try await stage.pushpool("dead", "retry", "--all")
        #expect(retry.exit == .code(0), "\(retry.error)")
        #expect(try await client.finished("refused").counts.accepted == 1)
      }
      #expect(try await client.length("dead") == 0)
    }
  }
}
