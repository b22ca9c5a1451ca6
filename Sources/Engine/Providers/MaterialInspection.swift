package import HTTPClient
package import PushpoolConfiguration

/// Looks at what the files of a configuration's apps contain: keys, accounts, certificates, passwords, authorities.
package enum MaterialInspection {
  /// Every fault, one for each field, in the order of the apps. Unlike `ConfiguredApps` it looks at the other networks of an
  /// app that has a fault, too.
  /// - Parameter client: sends nothing.
  package static func faults(
    in configuration: Configuration, client: HTTPClient
  ) -> [ConfigurationError] {
    let files = AppFiles()
    // One for all, so that it notices what two apps say otherwise of one account.
    var builder = ProviderBuilder(client: client, clock: .system)
    var faults: [ConfigurationError] = []
    for (index, app) in configuration.apps.enumerated() {
      var found: [ConfigurationError] = []
      for material in files.materials(of: app) {
        do throws(MaterialProblems) {
          try builder.add(try material.get())
        } catch {
          for problem in error.all {
            let fault = configuration.error(about: problem, field: "apps[\(index)]")
            if !found.contains(where: { $0.field == fault.field }) { found.append(fault) }
          }
        }
      }
      faults += found
    }
    return faults
  }
}
