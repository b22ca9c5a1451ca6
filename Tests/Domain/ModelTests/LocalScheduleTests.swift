import Testing

@testable import Model

/// `deliver_local`: what producers write, and when that is where.
@Suite struct LocalScheduleTests {
  private static func delivery(_ json: String) throws -> LocalDelivery {
    try #require(
      try JobTests.job(#""notification":{"body":"B"},"deliver_local":\#(json)"#).deliverLocal)
  }

  @Test("a time alone, or with a day and what is done without a zone and when it is late")
  func reads() throws {
    #expect(try Self.delivery(#""09:05""#) == LocalDelivery(date: nil, minutes: 545))
    #expect(
      try Self.delivery(
        #"{"date":"2026-12-01","time":"23:59","without_zone":"utc","late":"next_day"}"#)
        == LocalDelivery(
          date: CivilDate("2026-12-01"), minutes: 1_439, withoutZone: .utc, late: .nextDay))
  }

  @Test("both forms of a time are the same job, and another time is another")
  func isCanonical() throws {
    func canonical(_ json: String) throws -> [UInt8] {
      try JobTests.job(#""notification":{"body":"B"},"deliver_local":\#(json)"#).canonicalBytes()
    }
    #expect(try canonical(#""09:05""#) == canonical(#"{"time":"09:05"}"#))
    #expect(try canonical(#""09:05""#) != canonical(#""09:06""#))
    let job = try JobTests.job(
      #""notification":{"body":"B"},"deliver_local":{"date":"2026-12-01","time":"09:00","late":"skip"}"#
    )
    #expect(try Job(json: job.json()) == job)
  }

  @Test(
    "what cannot be meant is refused by its field",
    arguments: [
      (#""deliver_local":"9:00""#, "/deliver_local"),
      (#""deliver_local":"24:00""#, "/deliver_local"),
      (#""deliver_local":"09:60""#, "/deliver_local"),
      (#""deliver_local":"09:00:00""#, "/deliver_local"),
      (#""deliver_local":9"#, "/deliver_local"),
      (#""deliver_local":{}"#, "/deliver_local/time"),
      (#""deliver_local":{"time":"09:00","date":"2026-02-30"}"#, "/deliver_local/date"),
      (#""deliver_local":{"time":"09:00","late":"skip"}"#, "/deliver_local/late"),
      (#""deliver_local":{"time":"09:00","without_zone":"home"}"#, "/deliver_local/without_zone"),
      (#""deliver_local":{"time":"09:00","zone":"UTC"}"#, "/deliver_local/zone"),
      (#""deliver_local":"09:00","deliver_at":1790000000000"#, "/deliver_local"),
      (#""deliver_local":"09:00","spread_over_seconds":60"#, "/spread_over_seconds"),
      (#""schedule":{"rounds":[]}"#, "/schedule"),
    ])
  func refuses(fields: String, pointer: String) {
    #expect {
      _ = try JobTests.job(#""notification":{"body":"B"},\#(fields)"#)
    } throws: { ($0 as? InvalidField)?.pointer == pointer }
  }

  private static let zones: [String: TimeZoneRules] = [
    "UTC": zone(0), "Etc/UTC": zone(0), "Asia/Tokyo": zone(9), "Pacific/Pago_Pago": zone(-11),
    "Pacific/Kiritimati": zone(14),
  ]

  private static func zone(_ hours: Int) -> TimeZoneRules {
    TimeZoneRules(firstOffset: hours * 3_600, changes: [], yearly: nil)
  }

  private static func schedule(
    _ json: String, app: String? = nil, at now: String
  ) throws -> LocalSchedule {
    try LocalSchedule(
      delivery(json), in: zones, appZone: app, nowMs: try #require(RFC3339.milliseconds(now)))
  }

  private static func ms(_ text: String) throws -> Int64 {
    try #require(RFC3339.milliseconds(text))
  }

  /// Without clocks that never change.
  private static func named(_ zones: [String]) -> [String] { zones.filter { !$0.contains(":") } }

  private static func named(_ rounds: [LocalSchedule.Round]) -> [LocalSchedule.Round] {
    rounds.map { .init(atMs: $0.atMs, zones: named($0.zones)) }
  }

  @Test("a clock that never changes starts with the zones that show the same, and makes no round")
  func fixedOffsets() throws {
    let schedule = try Self.schedule(
      #"{"date":"2026-12-01","time":"09:00"}"#, app: "Asia/Tokyo", at: "2026-11-23T00:00:00Z")
    #expect(
      schedule.rounds.map(\.zones) == [
        ["GMT+14:00", "Pacific/Kiritimati"], ["Asia/Tokyo", "GMT+09:00"],
        ["Etc/UTC", "GMT+00:00", "UTC"], ["GMT-11:00", "Pacific/Pago_Pago"],
      ])
    let late = try Self.schedule(
      #"{"date":"2026-12-01","time":"09:00","late":"skip"}"#, at: "2026-12-01T01:00:00Z")
    #expect(late.missed.contains("GMT+09:00") && !late.missed.contains("GMT+08:00"))
  }

  @Test("each zone has its instant, and zones of one offset share theirs")
  func dated() throws {
    let schedule = try Self.schedule(
      #"{"date":"2026-12-01","time":"09:00"}"#, app: "Asia/Tokyo", at: "2026-11-23T00:00:00Z")
    #expect(
      Self.named(schedule.rounds) == [
        .init(atMs: try Self.ms("2026-11-30T19:00:00Z"), zones: ["Pacific/Kiritimati"]),
        .init(atMs: try Self.ms("2026-12-01T00:00:00Z"), zones: ["Asia/Tokyo"]),
        .init(atMs: try Self.ms("2026-12-01T09:00:00Z"), zones: ["Etc/UTC", "UTC"]),
        .init(atMs: try Self.ms("2026-12-01T20:00:00Z"), zones: ["Pacific/Pago_Pago"]),
      ])
    #expect(schedule.missed.isEmpty && schedule.roundWithoutZone == 1)
  }

  @Test("where the time has passed it is sent at once, not at all, or the next day")
  func late() throws {
    let now = "2026-12-01T01:00:00Z"
    func late(_ word: String) throws -> LocalSchedule {
      try Self.schedule(#"{"date":"2026-12-01","time":"09:00","late":"\#(word)"}"#, at: now)
    }
    let sent = try late("send")
    #expect(Self.named(sent.rounds).map(\.zones.count) == [2, 2, 1])
    #expect(sent.rounds[0].atMs == (try Self.ms(now)) && sent.missed.isEmpty)
    let skipped = try late("skip")
    #expect(
      Self.named(skipped.missed) == ["Asia/Tokyo", "Pacific/Kiritimati"]
        && skipped.rounds.count == 2)
    let moved = try late("next_day")
    #expect(
      moved.rounds.map(\.atMs)
        == (try [
          "2026-12-01T09:00:00Z", "2026-12-01T19:00:00Z", "2026-12-01T20:00:00Z",
          "2026-12-02T00:00:00Z",
        ].map(Self.ms)))
  }

  @Test("without a day it is the next such time everywhere, within a day", arguments: 0..<48)
  func undated(halfHour: Int) throws {
    let now = try Self.ms("2026-12-01T00:00:00Z") + Int64(halfHour) * 1_800_000
    let schedule = try LocalSchedule(
      Self.delivery(#""09:00""#), in: Self.zones, appZone: nil, nowMs: now)
    #expect(Self.named(schedule.rounds).flatMap(\.zones).count == Self.zones.count)
    #expect(schedule.rounds.allSatisfy { (now..<now + 86_400_000).contains($0.atMs) })
  }

  @Test("an installation without a zone has the app's, UTC's or none")
  func withoutZone() throws {
    let now = "2026-11-23T00:00:00Z"
    func round(_ word: String, app: String?) throws -> Int? {
      let text = #"{"date":"2026-12-01","time":"09:00","without_zone":"\#(word)"}"#
      return try Self.schedule(text, app: app, at: now).roundWithoutZone
    }
    #expect(try round("app", app: "Pacific/Pago_Pago") == 3)
    #expect(try round("utc", app: "Pacific/Pago_Pago") == 2)
    #expect(try round("skip", app: "Pacific/Pago_Pago") == nil)
    #expect(throws: InvalidField.self) { try round("app", app: nil) }
    #expect(throws: InvalidField.self) { try round("app", app: "Mars/Base") }
    let plain = try Self.schedule(#"{"date":"2026-12-01","time":"09:00"}"#, at: now)
    #expect(plain.roundWithoutZone == 2)
  }

  @Test("a day that has passed everywhere is refused, however late is to be taken")
  func past() throws {
    for late in ["send", "skip"] {
      #expect(throws: InvalidField.self) {
        try Self.schedule(
          #"{"date":"2026-11-01","time":"09:00","late":"\#(late)"}"#, at: "2026-12-01T00:00:00Z")
      }
    }
  }

  @Test("a day more than a year ahead is refused, and so is a job that expires before it starts")
  func bounds() throws {
    let now = "2026-12-01T00:00:00Z"
    #expect(throws: InvalidField.self) {
      try Self.schedule(#"{"date":"2027-12-02","time":"09:00"}"#, at: now)
    }
    let schedule = try Self.schedule(#"{"date":"2026-12-02","time":"09:00"}"#, at: now)
    let startMs = schedule.rounds[0].atMs
    #expect(throws: InvalidField.self) { try schedule.check(.at(ms: startMs)) }
    try schedule.check(.at(ms: startMs + 1))
    try schedule.check(.ttl(seconds: 1))
  }

  @Test("what the content of a job keeps of it is read again as it was")
  func keeps() throws {
    var content = try JobTests.job(#""notification":{"body":"B"}"#).content
    content.schedule = try Self.schedule(
      #"{"date":"2026-12-01","time":"09:00","late":"skip","without_zone":"skip"}"#,
      at: "2026-12-01T01:00:00Z")
    #expect(try JobContent(bytes: content.canonicalBytes()) == content)
  }
}
