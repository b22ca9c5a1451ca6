import Glibc
import LocalServices
import Model
import Redis
import Simulator
import Testing

/// Jobs that start at an instant.
@Suite struct ScheduleTests {
  private static let aheadMs: Int64 = 4_000

  private static func job(_ id: String, _ audience: String, atMs: Int64, _ more: String = "")
    -> String
  {
    """
    {"id": "\(id)", "app": "shop", "audience": \(audience), "deliver_at": \(atMs),
     "notification": {"title": "Hello", "body": "World"}\(more)}
    """
  }

  @Test("a scheduled job is sent at its time, to whom it is for then, whoever dies before")
  func sendsInTime() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<400))
      _ = try await client.command(
        "EVAL", "for n = 0, 599 do redis.call('SADD', KEYS[1], 'u' .. n) end", "1", "crowd")
      let atMs = try await client.serverMs() + Self.aheadMs
      let names = (0..<600).map { "\"u\($0)\"" }.joined(separator: ",")
      try await client.subscribe((0..<600).map { "u\($0)" }, to: "crowd")
      let audiences = [
        ("named", #"{"users": [\#(names)]}"#), ("key", #"{"users_key": "crowd"}"#),
        ("topic", #"{"topic": "crowd"}"#), ("all", #"{"all": true}"#),
      ]
      let victim = try stage.startProcess()
      for (id, audience) in audiences {
        _ = try await client.enqueue(Self.job(id, audience, atMs: atMs, #", "ttl_seconds": 60"#))
        _ = try await eventually("\(id) is taken in") {
          try await client.record(id)?.isAdmitted == true ? true : nil
        }
        let record = try #require(try await client.record(id))
        #expect(record.state == .scheduled && record.startAtMs == atMs)
      }
      await victim.kill()
      _ = try await client.command("SAVE")
      await stage.redis.kill9()
      try await stage.redis.restart()
      // Who joins before the start is sent to.
      try await client.install(try Devices.apns(400..<500))
      try await stage.withWorkers(2) { _ in
        for (id, _) in audiences {
          let record = try await client.finished(id)
          #expect(record.counts.accepted == 500)
          #expect(record.counts.noInstallations == (id == "all" ? 0 : 100))
          #expect(record.isBalanced)
          #expect(try #require(record.startedAtMs) >= atMs)
        }
      }
      #expect(stage.simulator.acceptedPushes.allSatisfy { $0.acceptedAtMs >= atMs })
      #expect(stage.simulator.acceptedPushes.count == 500 * audiences.count)
    }
  }

  @Test("a scheduled job can be paused over its time, and cancelled before it")
  func controls() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3))
      let atMs = try await client.serverMs() + Self.aheadMs
      let users = #"{"users": ["u0", "u1", "u2"]}"#
      try await stage.withWorkers { _ in
        for id in ["held", "gone", "short"] {
          let more = id == "short" ? #", "ttl_seconds": 1"# : ""
          _ = try await client.enqueue(Self.job(id, users, atMs: atMs, more))
          _ = try await eventually("\(id) is taken in") {
            try await client.record(id)?.isAdmitted == true ? true : nil
          }
        }
        for id in ["held", "short"] { _ = try await client.pause(id) }
        _ = try await client.cancel("gone")
        #expect(try await client.finished("gone").counts.skipped == 3)
        _ = try await eventually("its time has come, and a second more") {
          try await client.serverMs() > atMs + 1_500 ? true : nil
        }
        #expect(stage.simulator.counters.accepted == 0)
        for id in ["held", "short"] { _ = try await client.resume(id) }
        #expect(try await client.finished("held").counts.accepted == 3)
        #expect(try await client.finished("short").counts.expired == 3)
      }
    }
  }

  @Test("a job that waits for its start is told another one, from which its time to live counts")
  func moves() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<3))
      let hourMs: Int64 = 3_600_000
      let atMs = try await client.serverMs() + hourMs
      let users = #"{"users": ["u0", "u1", "u2"]}"#
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          Self.job("sale", users, atMs: atMs, #", "ttl_seconds": 300"#))
        _ = try await client.enqueue(
          Self.job("ends", users, atMs: atMs, #", "expires_at": \#(atMs + 300_000)"#))
        for id in ["sale", "ends"] {
          _ = try await eventually("\(id) is taken in") {
            try await client.record(id)?.state == .scheduled ? true : nil
          }
        }
        let later = String(atMs + 2 * hourMs)
        let moved = try await stage.pushpool("job", "sale", "at", later, "--app", "shop")
        #expect(moved.exit == .code(0), "\(moved)")
        #expect(try await client.record("sale")?.startAtMs == atMs + 2 * hourMs)
        let refused = try await stage.pushpool("job", "ends", "at", later, "--app", "shop")
        #expect(refused.exit == .code(65) && refused.error.contains("expire before"), "\(refused)")
        #expect(try await client.record("ends")?.startAtMs == atMs)
        for value in ["soon", "5", "2026-12-01"] {
          let wrong = try await stage.pushpool("job", "sale", "at", value, "--app", "shop")
          #expect(wrong.exit == .code(64) && wrong.error.contains("or now"), "\(wrong)")
        }
        #expect(stage.simulator.counters.accepted == 0)
        let now = try await stage.pushpool("job", "sale", "at", "now", "--app", "shop")
        #expect(now.exit == .code(0), "\(now)")
        #expect(try await client.finished("sale").counts.accepted == 3)
        let late = try await stage.pushpool("job", "sale", "at", "now", "--app", "shop")
        #expect(late.exit == .code(65) && late.error.contains("it has ended"), "\(late)")
      }
      #expect(stage.simulator.acceptedPushes.count == 3)
    }
  }

  @Test("what starts in a past time is sent at once, and what starts in two years is refused")
  func bounds() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1))
      let nowMs = try await client.serverMs()
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("past", #"{"users":["u0"]}"#, atMs: nowMs - 60_000))
        #expect(try await client.finished("past").counts.accepted == 1)
        _ = try await client.enqueue(
          Self.job("far", #"{"users":["u0"]}"#, atMs: nowMs + 2 * 365 * 86_400_000))
        _ = try await eventually("it is refused") {
          try await client.length("dead") == 1 ? true : nil
        }
      }
      let letter = try #require(try await client.entries("dead").first)
      #expect(letter["field"] == "/deliver_at")
      #expect(letter["message"]?.contains("more than 365 days ahead") == true)
    }
  }
}
