internal import Foundation
package import Model

/// The system's time zones: the compiled files of tzdata.
package struct TimeZoneDatabase: Sendable {
  /// By name, such as `Asia/Tokyo`. Names that say the same of all time share their rules.
  package let zones: [String: TimeZoneRules]

  /// Where the system keeps them: `TZDIR`, as for the C library, or its usual folder.
  package static var folder: String {
    let named = ProcessInfo.processInfo.environment["TZDIR"] ?? ""
    return named.isEmpty ? "/usr/share/zoneinfo" : named
  }

  /// Other forms of all zones, and a machine's own one: no names that mean the same everywhere.
  private static let otherForms = ["posix", "right", "localtime", "posixrules"]

  /// Reads all zones, which takes some hundredths of a second.
  /// - Throws: when there are none.
  package init(folder: String = Self.folder) throws(TimeZonesMissing) {
    var zones: [String: TimeZoneRules] = [:]
    var known: [[UInt8]: TimeZoneRules] = [:]
    let root = URL(fileURLWithPath: folder, isDirectory: true)
    let names = FileManager.default.enumerator(atPath: root.resolvingSymlinksInPath().path)
    while let name = names?.nextObject() as? String {
      guard !Self.otherForms.contains(name) else {
        names?.skipDescendants()
        continue
      }
      guard zones.count < ConfigurationLimits.timeZonesMax else { break }
      guard TextRule.isWord(name, others: "_+-/"), name.utf8.count <= Limits.timeZoneBytesMax,
        let bytes = Self.content(of: "\(folder)/\(name)")
      else { continue }
      guard let rules = known[bytes] ?? TimeZoneRules(tzif: bytes) else { continue }
      known[bytes] = rules
      zones[name] = rules
    }
    guard zones["UTC"] != nil else { throw TimeZonesMissing(folder: folder) }
    self.zones = zones
  }

  /// Whether the system has time zones.
  package static func check() throws(TimeZonesMissing) {
    guard let bytes = content(of: "\(folder)/UTC"), TimeZoneRules(tzif: bytes) != nil else {
      throw TimeZonesMissing(folder: folder)
    }
  }

  /// Whether the system has a zone of this name.
  static func has(_ name: String) -> Bool {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard TextRule.isWord(name, others: "_+-/"), parts.allSatisfy({ !$0.isEmpty }),
      !otherForms.contains(String(parts[0])),
      let bytes = content(of: "\(folder)/\(name)")
    else { return false }
    return TimeZoneRules(tzif: bytes) != nil
  }

  /// Nil for a folder, and for what is too long for a zone.
  private static func content(of path: String) -> [UInt8]? {
    guard let handle = FileHandle(forReadingAtPath: path),
      let data = try? handle.read(upToCount: ConfigurationLimits.timeZoneBytesMax + 1),
      data.count <= ConfigurationLimits.timeZoneBytesMax
    else { return nil }
    return Array(data)
  }
}
