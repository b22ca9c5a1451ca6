internal import Model
internal import Providers
internal import Store

extension ProviderDirectory {
  /// Where each app can be sent to.
  /// - Parameter apps: all of the configuration; one may have no network that anything is sent to.
  func routes(of apps: [String]) -> RouteTable {
    var places: [String: [String]] = [:]
    for entry in entries {
      for environment in PushEnvironment.allCases where entry.environments.contains(environment) {
        places[entry.app, default: []].append(
          RouteTable.place(entry.provider.network, environment))
      }
    }
    return RouteTable(fields: apps.map { ($0, places[$0, default: []].joined(separator: ",")) })
  }
}
