internal import Model
internal import Providers
internal import Store

extension ProviderDirectory {
  /// Where each app can be sent to.
  /// - Parameters:
  ///   - apps: all of the configuration file.
  ///   - leftOut: apps for which nothing can be sent.
  ///   - redisApps: apps of Redis that can be sent for.
  func routes(
    of apps: [String], leftOut: Set<String> = [], redisApps: some Sequence<String> = []
  ) -> RouteTable {
    let others = leftOut.subtracting(apps)
    return RouteTable(
      fields: apps.map { ($0, leftOut.contains($0) ? RouteTable.leftOut : places(of: $0)) }
        + others.map { ($0, RouteTable.leftOut) },
      redisApps: Dictionary(
        redisApps.map { ($0, places(of: $0)) }, uniquingKeysWith: { $1 }))
  }

  /// The places of one app, as a `RouteTable` has them: in one order, whenever each of them came.
  func places(of app: String) -> String {
    var places: [String] = []
    eachNumber(of: app) { network, environment, _ in
      places.append(RouteTable.place(network, environment))
    }
    return places.sorted().joined(separator: ",")
  }
}
