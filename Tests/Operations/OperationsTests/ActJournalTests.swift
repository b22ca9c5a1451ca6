import Model
import Operations
import Redis
import Store
import Testing

/// What operators did, which a fleet has once.
@Suite struct ActJournalTests {
  private static func note(
    _ fleet: FleetStore, _ verb: String, app: String? = nil, subject: String = ""
  ) async throws {
    try await ActJournal(fleet: fleet).note(
      Act(verb, app: app, subject: subject), by: "ann@push-1", from: "command line", nowMs: 1)
  }

  @Test("acts are noted at the fleet's home, and read of an app, of a verb and of a noun")
  func filters() async throws {
    try await Shards.withFleet { fleet, stores in
      let journal = ActJournal(fleet: fleet)
      try await journal.note(Act("key.create"), by: "ann", from: "192.0.2.1", nowMs: 5)
      let elsewhere = try await stores[1].connection.call(
        RedisCommand("EXISTS", stores[1].keys.acts)
      ) { $0.integer }
      #expect(elsewhere == 0)
      try await Self.note(fleet, "job.cancel", app: "shop", subject: "a")
      try await Self.note(fleet, "job.pause", app: "blog", subject: "b")
      try await Self.note(fleet, "jobless", app: "shop", subject: "c")
      func found(app: String? = nil, verb: String? = nil) async throws -> [String] {
        let page = try await journal.page(app: app, verb: verb, max: 10)
        #expect(page.next == nil)
        return page.entries.map(\.act.verb)
      }
      #expect(try await found() == ["jobless", "job.pause", "job.cancel", "key.create"])
      #expect(try await found(app: "shop") == ["jobless", "job.cancel"])
      #expect(try await found(verb: "job") == ["job.pause", "job.cancel"])
      #expect(try await found(app: "blog", verb: "job.cancel").isEmpty)
      let json = try #require(try await journal.page(verb: "key.create", max: 1).entries.first)
        .json()
      #expect(json["from"]?.stringValue == "192.0.2.1" && json["at"]?.int64Value == 5)
    }
  }

  @Test("pages follow each other without a gap, however many acts do not match")
  func pages() async throws {
    try await Shards.withFleet { fleet, _ in
      for number in 0..<1_200 {
        try await Self.note(
          fleet, number % 100 == 0 ? "switch.off" : "job.pause",
          subject: "\(number)")
      }
      let journal = ActJournal(fleet: fleet)
      var subjects: [String] = []
      var next: String?
      repeat {
        let page = try await journal.page(verb: "switch", before: next, max: 5)
        #expect(page.entries.count <= 5)
        subjects += page.entries.map(\.act.subject)
        next = page.next
      } while next != nil
      #expect(subjects == stride(from: 1_100, through: 0, by: -100).map(String.init))
    }
  }
}
