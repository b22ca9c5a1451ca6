package import Model

/// The routes that workers of one configuration can send to: for each app its networks and environments. An app of the
/// configuration may be left out: nothing is sent for it, and its work waits.
package struct RouteTable: Sendable, Equatable {
  /// App → `<network>|<environment>`, with commas between them, or `leftOut`; by app.
  package let fields: [(String, String)]
  /// Equal configurations have one digest, and so one copy in Redis.
  package let digest: String
  private let places: [String: Set<Substring>]
  private let leftOutApps: Set<String>

  package init(fields: [(String, String)]) {
    self.fields = fields.sorted { $0.0 < $1.0 }
    places = Dictionary(
      fields.filter { $0.1 != Self.leftOut }.map { ($0.0, Set($0.1.split(separator: ","))) },
      uniquingKeysWith: { $1 })
    leftOutApps = Set(fields.filter { $0.1 == Self.leftOut }.map(\.0))
    digest = Self.digest(of: self.fields)
  }

  /// The places of an app that is left out.
  package static let leftOut = "left_out"

  /// The apps of the configuration, those that are left out included.
  package var apps: [String] { fields.map(\.0) }

  package func has(_ app: String) -> Bool { places[app] != nil }

  /// Whether the app is left out: it may be sent to anywhere once its files are mended, and its work waits for that.
  package func leavesOut(_ app: String) -> Bool { leftOutApps.contains(app) }

  package func has(_ app: String, _ network: Network, _ environment: PushEnvironment) -> Bool {
    places[app]?.contains(Self.place(network, environment)[...]) ?? false
  }

  package static func place(_ network: Network, _ environment: PushEnvironment) -> String {
    "\(network.rawValue)|\(environment.rawValue)"
  }

  package static func == (one: RouteTable, other: RouteTable) -> Bool {
    one.digest == other.digest
  }

  private static func digest(of fields: [(String, String)]) -> String {
    ContentDigest.hex(Array(fields.map { "\($0.0)\t\($0.1)\n" }.joined().utf8), count: 8)
  }
}
