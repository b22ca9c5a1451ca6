internal import Foundation
package import Model

/// The system's time zones: the compiled files of tzdata, and the other names of zones that some systems leave out.
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
    Self.addLinks(to: &zones)
    self.zones = zones
  }

  /// Gives zones of the system the names that it lacks for them.
  private static func addLinks(to zones: inout [String: TimeZoneRules]) {
    let own = zones
    for names in TimeZoneLinks.groups {
      // An old system may have the old name alone.
      guard let rules = names.lazy.compactMap({ own[$0] }).first else { continue }
      for name in names where own[name] == nil { zones[name] = rules }
    }
  }

  /// From the first line of `tzdata.zi` (zic(8)), or from `+VERSION`, which some systems have in its place.
  private static func version(in folder: String) -> String? {
    let comment = "# version "
    func firstLine(_ file: String) -> Substring? {
      guard let handle = FileHandle(forReadingAtPath: "\(folder)/\(file)"),
        let data = try? handle.read(upToCount: ConfigurationLimits.timeZoneVersionBytesMax)
      else { return nil }
      return String(decoding: data, as: UTF8.self).split(separator: "\n").first
    }
    let line = firstLine("tzdata.zi").flatMap {
      $0.hasPrefix(comment) ? $0.dropFirst(comment.count) : nil
    }
    guard let text = line ?? firstLine("+VERSION"), TextRule.isWord(String(text), others: ".-_")
    else { return nil }
    return String(text)
  }

  /// Which time zones the system has, in words: "tzdata 2025b in /usr/share/zoneinfo".
  /// - Throws: when it has none.
  package static func release(in folder: String = Self.folder) throws(TimeZonesMissing) -> String {
    guard let bytes = content(of: "\(folder)/UTC"), TimeZoneRules(tzif: bytes) != nil else {
      throw TimeZonesMissing(folder: folder)
    }
    return "tzdata \(version(in: folder) ?? "of unknown version") in \(folder)"
  }

  /// Whether the system has a zone of this name, or one of which it is another name.
  static func has(_ name: String) -> Bool {
    isFile(name)
      || TimeZoneLinks.groups.contains { $0.contains(name) && $0.contains(where: isFile) }
  }

  static func isFile(_ name: String) -> Bool {
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

/// The system has no time zones.
package struct TimeZonesMissing: Error, CustomStringConvertible {
  let folder: String

  package var description: String {
    "there are no time zones in \(folder): install the package tzdata, or name another folder in TZDIR"
  }
}
