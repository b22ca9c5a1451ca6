package import Model

/// The routes that a worker can send to: for each app its networks and environments. An app may be left out: nothing is sent for
/// it, and its work waits.
///
/// Workers of one configuration share a table, which goes by the digest of all that it says. Apps that stand in Redis come and go
/// one by one. They are in a table that all workers with such apps share, and no part of the digest.
package struct RouteTable: Sendable, Equatable {
  /// App → `<network>|<environment>`, with commas between them, or `leftOut`; by app.
  package let fields: [(String, String)]
  /// Equal configurations have one digest, and so one copy in Redis.
  package let digest: String
  /// The apps that stand in Redis, without those that are left out: app → its places, as in `fields`.
  package let redisApps: [String: String]
  private let places: [String: Set<Substring>]
  private let leftOutApps: Set<String>

  package init(fields: [(String, String)], redisApps: [String: String] = [:]) {
    self.redisApps = redisApps
    self.fields = fields.sorted { $0.0 < $1.0 }
    places = Dictionary(
      fields.filter { $0.1 != Self.leftOut }.map { ($0.0, Set($0.1.split(separator: ","))) },
      uniquingKeysWith: { $1 })
    leftOutApps = Set(fields.filter { $0.1 == Self.leftOut }.map(\.0))
    digest = Self.digest(of: self.fields)
  }

  /// The places of an app that is left out.
  package static let leftOut = "left_out"

  /// The name of the table of apps that stand in Redis, in place of a digest.
  package static let ofRedisApps = "apps"

  /// How many apps there are, those that are left out included.
  package var count: Int { fields.count + redisApps.count }

  /// All apps, those that are left out included.
  package var apps: [String] { fields.map(\.0) + redisApps.keys }

  package func has(_ app: String) -> Bool { places[app] != nil || redisApps[app] != nil }

  /// Whether the app is left out: it may be sent to anywhere once its files are mended, and its work waits for that.
  package func leavesOut(_ app: String) -> Bool { leftOutApps.contains(app) }

  package func has(_ app: String, _ network: Network, _ environment: PushEnvironment) -> Bool {
    places[app]?.contains(Self.place(network, environment)[...])
      ?? redisApps[app].map { Self.has(network, environment, in: $0) } ?? false
  }

  /// - Parameter places: of one app, as in `fields`.
  package static func has(
    _ network: Network, _ environment: PushEnvironment, in places: String
  ) -> Bool {
    places.split(separator: ",").contains(place(network, environment)[...])
  }

  package static func place(_ network: Network, _ environment: PushEnvironment) -> String {
    "\(network.rawValue)|\(environment.rawValue)"
  }

  package static func == (one: RouteTable, other: RouteTable) -> Bool {
    one.digest == other.digest && one.redisApps == other.redisApps
  }

  private static func digest(of fields: [(String, String)]) -> String {
    ContentDigest.hex(Array(fields.map { "\($0.0)\t\($0.1)\n" }.joined().utf8), count: 8)
  }
}
