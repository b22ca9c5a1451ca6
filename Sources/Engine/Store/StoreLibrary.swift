internal import Model
package import Redis

/// The functions under Functions/ as the library that connections load.
package enum StoreLibrary {
  /// One library: a file sees the tables of those before it.
  static let source: [UInt8] =
    Array("#!lua name=pushpool_@VERSION@\n\(networks)\(priorities)".utf8)
    + PackageResources.limits_lua + PackageResources.keys_lua + PackageResources.numbers_lua
    + PackageResources.library_lua + PackageResources.sections_lua
    + PackageResources.alarms_lua + PackageResources.types_lua
    + PackageResources.switches_lua + PackageResources.loops_lua + PackageResources.rates_lua
    + PackageResources.metrics_lua
    + PackageResources.reading_lua + PackageResources.index_lua + PackageResources.rounds_lua
    + PackageResources.audience_lua
    + PackageResources.bindings_lua
    + PackageResources.ready_lua
    + PackageResources.fairness_lua + PackageResources.names_lua + PackageResources.refusals_lua
    + PackageResources.chunk_lua + PackageResources.badges_lua
    + PackageResources.chunks_lua
    + PackageResources.leases_lua + PackageResources.promotion_lua
    + PackageResources.route_alarms_lua + PackageResources.routes_lua
    + PackageResources.route_taking_lua
    + PackageResources.installations_lua + PackageResources.amending_lua
    + PackageResources.topics_lua + PackageResources.walks_lua
    + PackageResources.mending_lua
    + PackageResources.indexing_lua + PackageResources.exporting_lua
    + PackageResources.variables_lua + PackageResources.mass_death_lua
    + PackageResources.settlement_lua
    + PackageResources.jobs_lua + PackageResources.direct_lua
    + PackageResources.taking_lua
    + PackageResources.reconcile_lua + PackageResources.rescuing_lua
    + PackageResources.waiting_lua + PackageResources.dead_letters_lua + PackageResources.traces_lua
    + PackageResources.work_lua + PackageResources.streams_lua + PackageResources.stepping_lua
    + PackageResources.workers_lua
    + PackageResources.credentials_lua + PackageResources.apps_lua
    + PackageResources.libraries_lua

  /// The networks, which the functions have from here.
  private static var networks: String {
    list("NETWORKS", Network.allCases.map(\.rawValue))
  }

  /// The priorities, the first one first.
  private static var priorities: String {
    list("PRIORITIES", Priority.allCases.map(\.rawValue))
  }

  private static func list(_ name: String, _ words: [String]) -> String {
    "local \(name) = {\(words.map { "'\($0)'" }.joined(separator: ", "))}\n"
  }

  /// The beginning of the names of all versions' libraries.
  static let libraryName = "pushpool"

  /// The version is the start of the source's SHA-256: another source, other names.
  package static let library: FunctionLibrary = {
    FunctionLibrary(
      name: libraryName, version: ContentDigest.hex(source, count: 4),
      template: String(decoding: source, as: UTF8.self))
  }()
}
