@testable import Model
import Testing

@testable import Worker

@Suite struct ZoneMatcherTests {
  private static let rounds = [
    LocalSchedule.Round(atMs: 1_000, zones: ["Asia/Tokyo", "Asia/Seoul"]),
    LocalSchedule.Round(atMs: 2_000, zones: ["Europe/Berlin"]),
    LocalSchedule.Round(atMs: 3_000, zones: ["UTC"]),
  ]

  private static func match(_ zone: String?, _ round: Int, withoutZone: Int?) -> ZoneMatcher.Match {
    let matcher = ZoneMatcher(
      LocalSchedule(rounds: rounds, missed: ["Pacific/Apia"], roundWithoutZone: withoutZone),
      round: round)
    guard let zone else { return matcher.match(nil) }
    return Array(zone.utf8).withUnsafeBytes { matcher.match($0) }
  }

  @Test("each zone is in one round, and so is who has none or an unknown one")
  func isInOneRound() {
    for (zone, own) in [
      ("Asia/Tokyo", 0), ("Asia/Seoul", 0), ("Europe/Berlin", 1), ("UTC", 2), (nil, 1), ("", 1),
      ("Asia/Tok", 1), ("Asia/Tokyoo", 1), ("asia/tokyo", 1),
    ] {
      for round in 0..<3 {
        #expect(
          Self.match(zone, round, withoutZone: 1) == (round == own ? .now : .otherRound),
          "\(zone ?? "none") in round \(round)")
      }
    }
  }

  @Test("a clock that never changes is known in every form, and by its exact name first")
  func knowsOffsets() {
    let matcher = ZoneMatcher(
      LocalSchedule(
        rounds: [
          .init(atMs: 1_000, zones: ["Asia/Tokyo", "Etc/GMT-9", "GMT+09:00"]),
          .init(atMs: 2_000, zones: ["Etc/GMT+9", "GMT+00:00", "GMT-09:00", "UTC"]),
        ], missed: ["GMT+14:00"], roundWithoutZone: nil),
      round: 0)
    func match(_ zone: String) -> ZoneMatcher.Match {
      Array(zone.utf8).withUnsafeBytes { matcher.match($0) }
    }
    for zone in ["GMT+09:00", "GMT+0900", "UTC+9", "+09:00", "Etc/GMT-9", "Asia/Tokyo"] {
      #expect(match(zone) == .now, "\(zone)")
    }
    for zone in ["GMT-09:00", "UTC-9", "Etc/GMT+9", "Z", "GMT", "UTC"] {
      #expect(match(zone) == .otherRound, "\(zone)")
    }
    #expect(match("UTC+14") == .missed)
    #expect(match("UTC+10") == .unknown, "clocks show that offset nowhere")
  }

  @Test("a zone that is none is told once, and nobody is told of those without one")
  func tellsOfUnknown() {
    var told: [String] = []
    for round in 0..<3 {
      let matcher = ZoneMatcher(
        LocalSchedule(rounds: Self.rounds, missed: [], roundWithoutZone: 1), round: round)
      for zone in ["Mars/Base", "Asia/Tokyo", "", "UTC+9"] {
        Array(zone.utf8).withUnsafeBytes {
          _ = matcher.match($0) { told.append(String(decoding: $0, as: UTF8.self)) }
        }
      }
      _ = matcher.match(nil) { _ in Issue.record("told of nobody's zone") }
    }
    // This schedule has no clocks that never change, as those of earlier versions.
    #expect(told == ["Mars/Base", "UTC+9"])
  }

  @Test("who gets nothing is told of in the first round alone")
  func tellsOnce() {
    #expect(Self.match("Pacific/Apia", 0, withoutZone: 1) == .missed)
    #expect(Self.match("Pacific/Apia", 1, withoutZone: 1) == .otherRound)
    #expect(Self.match(nil, 0, withoutZone: nil) == .unknown)
    #expect(Self.match("Mars/Base", 0, withoutZone: nil) == .unknown)
    #expect(Self.match(nil, 2, withoutZone: nil) == .otherRound)
  }

  @Test("a job expires by the time of its own round")
  func expires() {
    var content = JobContent(expiry: .ttl(seconds: 10))
    content.schedule = LocalSchedule(rounds: Self.rounds, missed: [], roundWithoutZone: 0)
    let second = JobMaterial(content: content, createdAtMs: 500, round: 1)
    #expect(second.expiresAtMs == 12_000 && second.receivers.isPersonal)
    #expect(second.createdAtMs == 500, "an event happened when its job was made")
    #expect(second.receivers.recordFields == ["time_zone"])
  }
}
