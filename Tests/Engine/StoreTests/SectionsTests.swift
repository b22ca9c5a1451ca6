import Model
import Redis
import Testing

@testable import Store

/// The arguments that Swift writes in sections, as the functions read them.
@Suite struct SectionsTests {
  /// What the library counts: the rows of each section of a function.
  private func read(
    _ store: ShardStore, _ function: String, _ sections: Sections
  ) async throws -> [String: Int] {
    let functions = StoreFunctions(connection: store.connection, keys: store.keys)
    var command = functions.call("sections", function)
    sections.append(to: &command)
    let reply = try await functions.run(command) { RESPValue($0) }.array ?? []
    return Dictionary(
      stride(from: 0, to: reply.count - 1, by: 2).map {
        (reply[$0].string ?? "", reply[$0 + 1].integer ?? -1)
      }, uniquingKeysWith: { $1 })
  }

  private static var settlement: Settlement {
    var settlement = Settlement()
    settlement.counts = [.apns: counts(accepted: 2), .fcm: counts(accepted: 1, rejected: 1)]
    settlement.skippedUnread = 1
    let line = Array("apns\t\taa\ta\t1\t1\n".utf8)
    settlement.residuals = [1_000, 2_000].map { Settlement.Residual(delayMs: $0, lines: line) }
    settlement.unrouted = [
      Settlement.Unrouted(network: .fcm, environment: .production, lines: line)
    ]
    settlement.stillOpen = line
    settlement.tallies = Network.allCases.map {
      Settlement.Tally(network: $0, environment: .production, answers: 3, misfits: 1)
    }
    settlement.relabellings = [
      Settlement.Relabelling(
        network: .apns, token: "aa", user: "a", generation: 1, environment: .development)
    ]
    settlement.invalidations = ["bb", "cc"].map {
      Settlement.Invalidation(
        network: .apns, token: $0, user: "a", generation: 1, sinceMs: nil, reason: "Unregistered")
    }
    return settlement
  }

  @Test func `the library reads a settlement's sections as Swift wrote them`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      let full = Self.settlement.sections(of: claim, consumer: "w")
      #expect(
        try await read(store, "settle", full) == [
          "chunk": 1, "progress": 1, "counts": 4, "residuals": 2, "unrouted": 1, "open": 1,
          "tallies": Network.allCases.count, "labels": 1, "invalid": 2,
        ])
      let empty = Settlement().sections(of: claim, consumer: "w")
      #expect(
        try await read(store, "settle", empty) == [
          "chunk": 1, "progress": 1, "counts": 0, "residuals": 0, "unrouted": 0, "open": 0,
          "tallies": 0, "labels": 0, "invalid": 0,
        ])
    }
  }

  @Test func `the library reads an admission's and installations' sections as Swift wrote them`()
    async throws
  {
    try await Lane.withStore { _, store in
      let admission = Admission(
        app: "shop", id: "j1", digest: "d", content: [0x7b, 0x7d],
        audience: Admission.Audience(
          lines: .users, recipients: 1, segments: 1, texts: [[0x61, 0x0a]]))
      let entry = JobEntry(priority: .high, entry: "1-1", text: [])
      let admitted = try await read(
        store, "admit", admission.sections(of: entry, consumer: "w"))
      #expect(
        admitted == [
          "entry": 1, "job": 1, "audience": 1, "texts": 1, "index": 0, "variables": 0, "event": 0,
          "ending": 0, "pace": 0, "rounds": 0, "lives": 0, "begun": 0,
        ])
      var all = admission
      all.audience.index = .all
      let toAll = try await read(store, "admit", all.sections(of: entry, consumer: "w"))
      #expect(toAll["index"] == 1)
      var event = admission
      event.loopGuard.bucket = "orders"
      let ofEvent = try await read(store, "admit", event.sections(of: entry, consumer: "w"))
      #expect(ofEvent["event"] == 1)
      event.timing.livesSeconds = 60
      let living = try await read(store, "admit", event.sections(of: entry, consumer: "w"))
      #expect(living["lives"] == 1)
      event.timing.roundsAtMs = [1, 2]
      let local = try await read(store, "admit", event.sections(of: entry, consumer: "w"))
      #expect(local["rounds"] == 1)
      event.retention.seconds = 60
      let ending = try await read(store, "admit", event.sections(of: entry, consumer: "w"))
      #expect(ending["ending"] == 1)
      event.timing.startedAtMs = 1
      let begun = try await read(store, "admit", event.sections(of: entry, consumer: "w"))
      #expect(begun["begun"] == 1)
      let installations = ["aa", "bb"].map {
        Installation(
          app: "shop", user: "u", token: DeviceToken(stored: $0, network: .apns),
          device: Installation.Device(type: $0 == "aa" ? "phone" : nil))
      }
      for function in ["install", "create"] {
        let found = try await read(store, function, InstallationSections.of([installations[0]]))
        #expect(found == ["installations": 1, "fields": 1])
      }
      let batch = InstallationSections.of(installations, in: ImportTurn())
      let found = try await read(store, "install_many", batch)
      #expect(found == ["batch": 1, "installations": 2, "fields": 1])
      try await store.install("u", "aa")
      let before = try #require(try await store.binding("aa"))
      let amended = InstallationSections.of(before, to: installations[0])
      // Channels are always given.
      #expect(
        try await read(store, "amend", amended)
          == ["read": 1, "installations": 1, "fields": 2, "removed": 0])
    }
  }

  /// What the function answers to arguments that were written by hand.
  private func refusal(_ store: ShardStore, _ function: String, _ words: [String]) async throws
    -> String
  {
    let functions = StoreFunctions(connection: store.connection, keys: store.keys)
    var command = functions.call(function)
    for word in words { command.append(word) }
    do {
      _ = try await functions.run(command) { $0.string }
      return "none"
    } catch {
      guard case .server("SECTIONS", let message) = error else { throw error }
      return message
    }
  }

  private static let chunk = ["w", "normal", "1-1", "shop", "j1", "1", "n1-1", "users"]
  private static let progress = ["0", "x", "-", "0", "0", "0"]

  @Test(
    arguments: [
      (["chunk:1 progress:1"] + chunk, "settle was given 8 fields"),
      (["chunk:1 progress:1 counts:2"] + chunk + progress + ["apns", "accepted", "1"], "has 20"),
      (["chunk:1 progress:1"] + chunk + progress + ["more"], "was given 15 fields"),
      (["chunk:1 progress:1 pigeons:1"] + chunk + progress + ["x"], "no section \"pigeons\""),
      (["chunk:1 chunk:1"] + chunk + chunk, "\"chunk\" twice"),
      (["chunk:1"] + chunk, "one row of the section \"progress\""),
      (["chunk:2 progress:1"] + chunk + chunk + progress, "one row of the section \"chunk\""),
      ([], "one row of the section"),
    ])
  func `sections that do not add up are refused, and nothing is changed`(
    words: [String], expected: String
  ) async throws {
    try await Lane.withStore { _, store in
      let message = try await refusal(store, "settle", words)
      #expect(message.contains(expected), "\(message)")
      #expect(try await store.allKeys() == [])
    }
  }

  @Test func `an installation that announces other fields than follow is refused`() async throws {
    try await Lane.withStore { _, store in
      let row = ["shop", "apns", "aa", "u", "production", "", "id", "", ""]
      let message = try await refusal(
        store, "install", ["installations:1 fields:1"] + row + ["2", "device_type", "phone"])
      #expect(message.contains("2 fields"), "\(message)")
      #expect(try await store.allKeys() == [])
    }
  }

  @Test func `a header that is new each time is read each time`() async throws {
    try await Lane.withStore { _, store in
      for count in 1...600 {
        var sections = Sections()
        sections.add(Sections.Section(name: "batch", columns: 2)) { row in
          row.append("")
          row.append("0")
        }
        sections.add(Sections.Section(name: "fields", columns: 2), 0..<count) { _, row in
          row.append("name")
          row.append("value")
        }
        let found = try await read(store, "install_many", sections)
        #expect(found["fields"] == count)
      }
    }
  }
}
