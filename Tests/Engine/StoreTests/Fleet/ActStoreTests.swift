import Redis
import Testing

@testable import Store

/// The stream of what operators did.
@Suite struct ActStoreTests {
  @Test("acts are read back whole, the newest first, a page behind the other")
  func pages() async throws {
    try await Lane.withStore { _, store in
      for number in 0..<5 {
        try await store.fleet.acts.add(
          Act("job.pace", app: "shop", subject: "job-\(number)", detail: "500"),
          by: "ann@push-1", from: "command line", nowMs: 1_790_000_000_000 + Int64(number))
      }
      let first = try await store.fleet.acts.page(max: 2)
      #expect(first.map(\.act.subject) == ["job-4", "job-3"])
      #expect(
        first[0].act == Act("job.pace", app: "shop", subject: "job-4", detail: "500")
          && first[0].who == "ann@push-1" && first[0].from == "command line"
          && first[0].atMs == 1_790_000_000_004)
      let second = try await store.fleet.acts.page(before: first[1].entry, max: 10)
      #expect(second.map(\.act.subject) == ["job-2", "job-1", "job-0"])
      #expect(try await store.fleet.acts.page(before: second[2].entry, max: 10).isEmpty)
    }
  }

  @Test("an act keeps the name of the key that did it")
  func names() async throws {
    try await Lane.withStore { _, store in
      try await store.fleet.acts.add(
        Act("job.pause"), by: "k7", named: "the hall", from: "192.0.2.1", nowMs: 1)
      try await store.fleet.acts.add(Act("job.resume"), by: "k7", from: "192.0.2.1", nowMs: 2)
      let acts = try await store.fleet.acts.page(max: 2)
      #expect(acts.map(\.who) == ["k7", "k7"])
      #expect(acts.map(\.whoName) == ["", "the hall"])
    }
  }

  @Test("texts that are too long are cut between two characters")
  func cuts() async throws {
    let long = String(repeating: "é", count: 600)
    let act = Act(long, app: long, subject: long, detail: long)
    #expect(act.verb == String(repeating: "é", count: StoreLimits.actWordBytesMax / 2))
    #expect(act.subject == String(repeating: "é", count: StoreLimits.actTextBytesMax / 2))
    #expect(Act.cut("aé", 2) == "a")
    try await Lane.withStore { _, store in
      try await store.fleet.acts.add(act, by: long, named: long, from: long, nowMs: 1)
      let entry = try #require(try await store.fleet.acts.page(max: 1).first)
      #expect(entry.act == act && entry.who == act.subject && entry.from == act.detail)
      #expect(entry.whoName == act.subject)
    }
  }

  @Test("the stream has a bound, and what others add to it does no harm")
  func bounded() async throws {
    try await Lane.withStore { _, store in
      _ = try await store.redis("XADD", store.keys.acts, "*", "note", "by hand")
      let stranger = try #require(try await store.fleet.acts.page(max: 1).first)
      #expect(stranger.act == Act("") && stranger.atMs > 1_600_000_000_000)
      // The whole command, as Redis got it.
      _ = try await store.redis("CONFIG", "SET", "slowlog-log-slower-than", "0")
      try await store.fleet.acts.add(Act("key.create"), by: "w", from: "f", nowMs: 1)
      let log = try await store.redis("SLOWLOG", "GET", "10").array ?? []
      let words = log.compactMap { $0.array?[3].array?.compactMap(\.string) }
      let added = try #require(words.first { $0.first == "XADD" })
      #expect(added.starts(with: ["XADD", store.keys.acts, "MAXLEN", "~", "100000", "*"]))
    }
  }
}
