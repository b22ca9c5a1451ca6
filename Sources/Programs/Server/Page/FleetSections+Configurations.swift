internal import Model
internal import Operations
internal import Store

extension FleetSections {
  /// Which workers have the newest configuration, which refuse the one that is there now, and which are to be restarted. Of each
  /// the first ones are named, and all are counted.
  var configurations: JSONValue {
    var object: JSONObject = [:]
    if let newest = fleet.newestConfiguration {
      object["since"] = .integer(newest.sinceMs)
      object["newest"] = .integer(newest.workers.count)
      object["others"] = Self.names(newest.others)
      object["unknown"] = Self.names(newest.unknown)
    }
    object["refusing"] = Self.names(fleet.refusingConfiguration)
    let waiting = fleet.living.filter { fleet.restartAwaitedBy($0) != nil }
      .sorted { $0.worker < $1.worker }
    object["restarts"] = .object([
      "count": .integer(waiting.count),
      "workers": .array(
        waiting.prefix(ServerLimits.feedNamesMax).map { worker in
          .object([
            "worker": Self.text(worker.worker),
            "settings": Self.text(fleet.restartAwaitedBy(worker) ?? ""),
          ])
        }),
    ])
    return .object(object)
  }

  private static func names(_ workers: [String]) -> JSONValue {
    .object([
      "count": .integer(workers.count),
      "workers": .array(workers.prefix(ServerLimits.feedNamesMax).map { text($0) }),
    ])
  }
}
