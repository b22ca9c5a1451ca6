import Foundation
import Testing

@testable import Model
@testable import PushpoolConfiguration

/// The system's time zones, held against its own `date`.
@Suite struct TimeZoneDatabaseTests {
  /// Each hour's offset of some days about the changes of two years, and of some far ahead.
  private static let instants = [1_774_000_000, 1_792_000_000, 1_806_000_000, 4_090_000_000]
    .flatMap { start in stride(from: start, to: start + 20 * 86_400, by: 3 * 3_600) }

  private func offsets(_ zone: String, _ instants: String) throws -> [Int] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["TZ=\(zone)", "date", "-f", instants, "+%::z"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map { line in
      let parts = line.dropFirst().split(separator: ":").map { Int($0) ?? 0 }
      return (parts[0] * 3_600 + parts[1] * 60 + parts[2]) * (line.first == "-" ? -1 : 1)
    }
  }

  @Test("every zone has the offsets that the C library knows")
  func agrees() throws {
    let zones = try TimeZoneDatabase().zones
    #expect(zones.count > 400)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "instants-\(UUID().uuidString)")
    try Self.instants.map { "@\($0)" }.joined(separator: "\n")
      .write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    for (name, rules) in zones where TimeZoneDatabase.isFile(name) {
      let expected = try offsets(name, file.path)
      #expect(expected.count == Self.instants.count)
      #expect(Self.instants.map { rules.offset(atSeconds: $0) } == expected, "\(name)")
    }
  }

  @Test("a system without zones says which package it lacks")
  func missing() {
    #expect {
      try TimeZoneDatabase(folder: "/nowhere")
    } throws: { "\($0)".contains("tzdata") && "\($0)".contains("/nowhere") }
  }

  /// A folder with some of the system's zones alone.
  private func folder(_ names: String..., version: String? = nil) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "zones-\(UUID().uuidString)")
    for name in names + ["UTC"] {
      let file = folder.appendingPathComponent(name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(contentsOf: URL(fileURLWithPath: "\(TimeZoneDatabase.folder)/\(name)")).write(
        to: file)
    }
    if let version {
      try version.write(
        to: folder.appendingPathComponent("tzdata.zi"), atomically: true, encoding: .utf8)
    }
    return folder.path
  }

  @Test("names that a system has moved elsewhere are those of the zones that it has")
  func oldNames() throws {
    let path = try folder(
      "Asia/Kolkata", "America/Argentina/Buenos_Aires", "America/Los_Angeles", "Asia/Tokyo",
      "Europe/Kiev")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let zones = try TimeZoneDatabase(folder: path).zones
    for (old, new) in [
      ("Asia/Calcutta", "Asia/Kolkata"), ("US/Pacific", "America/Los_Angeles"),
      ("America/Buenos_Aires", "America/Argentina/Buenos_Aires"), ("Japan", "Asia/Tokyo"),
      ("Zulu", "UTC"), ("GMT", "GMT"),
      // An old system has the old name alone.
      ("Europe/Kyiv", "Europe/Kiev"),
    ] {
      #expect(zones[old] == zones[new], "\(old)")
      if old != "GMT" { #expect(zones[old] != nil, "\(old)") }
    }
    #expect(zones["Asia/Saigon"] == nil, "nothing is known of a zone that the system lacks")
  }

  @Test("the names of one group have the same rules, where the system has them")
  func groupsAgree() throws {
    let zones = try TimeZoneDatabase().zones
    #expect(TimeZoneLinks.groups.count > 100)
    var names: Set<String> = []
    for group in TimeZoneLinks.groups {
      #expect(group.count > 1 && group.dropFirst().sorted() == Array(group.dropFirst()))
      for name in group.dropFirst() { #expect(names.insert(name).inserted, "\(name) stands twice") }
      let own = group.compactMap { zones[$0] }
      let offsets = own.map { rules in Self.instants.map { rules.offset(atSeconds: $0) } }
      #expect(Set(offsets).count <= 1, "\(group)")
    }
    #expect(TimeZoneLinks.groups.map { $0[0] } == TimeZoneLinks.groups.map { $0[0] }.sorted())
  }

  @Test("the release of the zones is told")
  func release() throws {
    let path = try folder(version: "# version 2026c\n# This zic input file\n")
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(try TimeZoneDatabase.release(in: path) == "tzdata 2026c in \(path)")
    for other in ["", "# version \u{1b}[31m\n", "# expires\n"] {
      try other.write(toFile: "\(path)/tzdata.zi", atomically: true, encoding: .utf8)
      #expect(try TimeZoneDatabase.release(in: path) == "tzdata of unknown version in \(path)")
    }
    try FileManager.default.removeItem(atPath: "\(path)/tzdata.zi")
    try "2027a\n".write(toFile: "\(path)/+VERSION", atomically: true, encoding: .utf8)
    #expect(try TimeZoneDatabase.release(in: path) == "tzdata 2027a in \(path)")
  }

  @Test("a name that leaves the folder, or is no zone, is none")
  func names() {
    #expect(TimeZoneDatabase.has("Asia/Tokyo") && TimeZoneDatabase.has("Asia/Calcutta"))
    for name in [
      "", "Asia", "Asia/Nowhere", "../zoneinfo/UTC", "/etc/passwd", "tzdata.zi", "localtime",
      "posix/Asia/Tokyo", "Asia//Tokyo", "Asia/Tokyo/",
    ] {
      #expect(!TimeZoneDatabase.has(name), "\(name)")
    }
  }
}
