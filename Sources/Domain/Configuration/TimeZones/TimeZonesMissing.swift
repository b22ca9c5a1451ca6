/// The system has no time zones.
package struct TimeZonesMissing: Error, CustomStringConvertible {
  let folder: String

  package var description: String {
    "there are no time zones in \(folder): install the package tzdata, or name another folder in TZDIR"
  }
}
