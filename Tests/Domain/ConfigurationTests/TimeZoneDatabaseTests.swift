import Foundation
import Testing

@testable import Configuration
@testable import Model

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
    for (name, rules) in zones {
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

  @Test("a name that leaves the folder, or is no zone, is none")
  func names() {
    #expect(TimeZoneDatabase.has("Asia/Tokyo"))
    for name in [
      "", "Asia", "Asia/Nowhere", "../zoneinfo/UTC", "/etc/passwd", "tzdata.zi", "localtime",
      "posix/Asia/Tokyo", "Asia//Tokyo", "Asia/Tokyo/",
    ] {
      #expect(!TimeZoneDatabase.has(name), "\(name)")
    }
  }
}
