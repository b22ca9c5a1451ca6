internal import Model
internal import Providers
internal import Store

extension ProviderDirectory {
  /// Where each app can be sent to.
  /// - Parameters:
  ///   - apps: all of the configuration.
  ///   - leftOut: those of them for which nothing can be sent.
  func routes(of apps: [String], leftOut: Set<String> = []) -> RouteTable {
    var places: [String: [String]] = [:]
    for entry in entries {
      for environment in PushEnvironment.allCases where entry.environments.contains(environment) {
        places[entry.app, default: []].append(
          RouteTable.place(entry.provider.network, environment))
      }
    }
    return RouteTable(
      fields: apps.map { app in
        let places = leftOut.contains(app) ? [RouteTable.leftOut] : places[app] ?? []
        return (app, places.joined(separator: ","))
      })
  }
}
