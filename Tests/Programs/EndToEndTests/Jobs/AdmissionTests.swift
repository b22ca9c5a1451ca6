import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Testing

@Suite struct AdmissionTests {
  struct BadJob: Sendable, CustomTestStringConvertible {
    let name: String
    let json: String
    let field: String
    var reason = "invalid_job"
    /// What the message must say.
    var says = ""
    var testDescription: String { name }
  }

  private static func job(_ members: String) -> String {
    #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"title": "x"}, \#(members)}"#
  }

  private static func large(_ network: String) -> String {
    let text = String(repeating: "x", count: 5_000)
    return #"""
      {"app": "shop", "audience": {"users": ["u1"]},
       "notification": {"title": "x", "body": "\#(text)"}}
      """#
  }

  static let corpus: [BadJob] = [
    BadJob(name: "not JSON", json: "hello", field: ""),
    BadJob(name: "cut JSON", json: #"{"app": "shop", "audience": {"us"#, field: ""),
    BadJob(name: "an array", json: "[1, 2]", field: ""),
    BadJob(
      name: "deep nesting", json: String(repeating: "[", count: 100_000), field: ""),
    BadJob(name: "a NUL outside of a string", json: "{\u{0}}", field: ""),
    BadJob(
      name: "unknown field", json: job(#""colapse_id": "a""#), field: "/colapse_id",
      says: "collapse_id"),
    BadJob(
      name: "missing app", json: #"{"audience": {"users": ["u"]}, "notification": {"title": "x"}}"#,
      field: "/app"),
    BadJob(
      name: "missing audience", json: #"{"app": "shop", "notification": {"title": "x"}}"#,
      field: "/audience"),
    BadJob(
      name: "nothing to send", json: #"{"app": "shop", "audience": {"users": ["u1"]}}"#,
      field: "/notification"),
    BadJob(name: "wrong type", json: job(#""ttl_seconds": "soon""#), field: "/ttl_seconds"),
    BadJob(
      name: "wrong type of a user",
      json: #"{"app": "shop", "audience": {"users": ["a", 7]}, "notification": {"title": "x"}}"#,
      field: "/audience/users/1"),
    BadJob(
      name: "two audiences",
      json:
        #"{"app": "shop", "audience": {"users": ["a"], "installations": []}, "notification": {"title": "x"}}"#,
      field: "/audience"),
    BadJob(
      name: "unknown app",
      json: #"{"app": "shoe", "audience": {"users": ["a"]}, "notification": {"title": "x"}}"#,
      field: "/app", reason: "unknown_app", says: "shoe"),
    BadJob(
      name: "reserved data key",
      json:
        #"{"app": "shop", "audience": {"users": ["a"]}, "notification": {"title": "x", "data": {"aps": "1"}}}"#,
      field: "/notification/data/aps", says: "reserved"),
    BadJob(name: "too large a payload", json: large("apns"), field: "/notification", says: "4,096"),
    BadJob(
      name: "control character in a user id",
      json: #"{"app": "shop", "audience": {"users": ["a\nb"]}, "notification": {"title": "x"}}"#,
      field: "/audience/users/0", says: "control"),
    BadJob(
      name: "NUL in a user id",
      json: #"{"app": "shop", "audience": {"users": ["a\u0000"]}, "notification": {"title": "x"}}"#,
      field: "/audience/users/0", says: "control"),
    BadJob(
      name: "line break in the topic", json: job(#""apns": {"topic": "a\r\nx-evil: 1"}"#),
      field: "/apns/topic"),
    BadJob(
      name: "line break in the collapse id", json: job(#""collapse_id": "a\r\nx-evil: 1""#),
      field: "/collapse_id", says: "control"),
    BadJob(
      name: "path in a device token",
      json:
        #"{"app": "shop", "audience": {"installations": [{"network": "apns", "token": "../../x"}]}, "notification": {"title": "x"}}"#,
      field: "/audience/installations/0/token"),
    BadJob(
      name: "both expiries", json: job(#""ttl_seconds": 5, "expires_at": 1790000000000"#),
      field: "/expires_at"),
  ]

  @Test("each bad job becomes a dead letter that names the field, and a good job beside it is sent")
  func refusesBadJobs() async throws {
    let worker = WorkerConfiguration(lanes: 1, drainSeconds: 5, unroutedSeconds: 1)
    try await PushStage.with(worker: worker) { stage in
      let client = stage.client
      try await client.install([try Devices.apns(1)])
      for (index, bad) in Self.corpus.enumerated() {
        _ = try await client.enqueue(bad.json)
        if index == Self.corpus.count / 2 {
          _ = try await client.enqueue(Devices.job("good", 1..<2))
        }
      }
      try await stage.withWorkers { _ in
        let record = try await client.finished("good")
        #expect(record.counts.accepted == 1)
        // The one of an unknown app waits a second for a worker that has it.
        _ = try await eventually("all are judged") {
          try await client.length("jobs:normal") == 0 ? true : nil
        }
      }
      let letters = try await client.entries("dead")
      #expect(letters.count == Self.corpus.count)
      for bad in Self.corpus {
        let letter = letters.first { $0["job"] == bad.json }
        #expect(letter?["reason"] == bad.reason, "\(bad.name)")
        #expect(letter?["field"] == bad.field, "\(bad.name): \(letter?["message"] ?? "")")
        #expect(letter?["message"]?.contains(bad.says) ?? false || bad.says.isEmpty, "\(bad.name)")
        #expect(letter?["message"]?.isEmpty == false, "\(bad.name)")
        #expect(letter?["kind"] == "job")
      }
      #expect(stage.simulator.counters.accepted == 1)
    }
  }

  @Test("a refused job's dead letter says whose it is, as far as the name keeps to the rules")
  func namesRefusedJobs() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      for id in ["sale-1", "evil\\u001b[2J", "a b"] {
        _ = try await client.enqueue(
          #"{"id": "\#(id)", "app": "shop", "audience": {"users": ["a"]}, "titel": "x"}"#)
      }
      _ = try await client.enqueue(
        #"{"id": "nap", "app": "../x", "audience": {"users": ["a"]}, "titel": "x"}"#)
      try await stage.withWorkers { _ in
        _ = try await eventually("all are refused") {
          try await client.length("dead") == 4 ? true : nil
        }
      }
      let names = try await client.entries("dead").map { "\($0["app"] ?? "?") \($0["id"] ?? "?")" }
      #expect(names.sorted() == [" nap", "shop ", "shop ", "shop sale-1"])
      // Whoever waits for it is told the same, and goes on with what is right.
      let letter = try await client.entries("dead").first { $0["id"] == "sale-1" }
      let record = try #require(try await client.record("sale-1"))
      #expect(record.state == .refused && record.refusal?.reason == "invalid_job")
      #expect(record.refusal?.field == letter?["field"] && record.refusal?.field == "/titel")
      #expect(record.refusal?.message == letter?["message"])
      try await client.install([try Devices.apns(0)])
      _ = try await client.enqueue(Devices.job("sale-1", 0..<1))
      try await stage.withWorkers { _ in
        let sent = try await client.finished("sale-1")
        #expect(sent.counts.accepted == 1)
      }
    }
  }

  @Test("an entry without a job and bytes that are no UTF-8 are dead letters too")
  func refusesBadEntries() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install([try Devices.apns(1)])
      _ = try await client.command("XADD", "pushpool:jobs:normal", "*", "jbo", "{}")
      _ = try await client.command(
        "EVAL", #"return redis.call('XADD', KEYS[1], '*', 'job', '{"app": "\255\254"}')"#, "1",
        "pushpool:jobs:normal")
      _ = try await client.enqueue(Devices.job("good", 1..<2))
      try await stage.withWorkers { _ in
        let record = try await client.finished("good")
        #expect(record.counts.accepted == 1)
        _ = try await eventually("both are refused") {
          try await client.length("dead") == 2 ? true : nil
        }
      }
      let reasons = try await client.entries("dead").compactMap { $0["reason"] }
      #expect(reasons.sorted() == ["invalid_job", "malformed_entry"])
    }
  }

  @Test("the same id with other content is a conflict, and the first job stands")
  func refusesIDConflict() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2))
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("sale", 0..<1))
        _ = try await client.enqueue(Devices.job("sale", 0..<2))
        #expect(try await client.finished("sale").counts.accepted == 1)
        _ = try await eventually("the second is judged") {
          try await client.length("dead") == 1 ? true : nil
        }
      }
      let letter = try #require(try await client.entries("dead").first)
      #expect(letter["reason"] == "id_conflict")
      #expect(letter["field"] == "/id")
      #expect(stage.simulator.counters.accepted == 1)
    }
  }
}
