/// Which installations of its audience a job is for.
package struct InstallationFilter: Sendable, Equatable {
  /// All of these must hold of an installation.
  let required: [FilterCondition]
  /// None of these may hold: `not`.
  let excluded: [FilterCondition]

  /// Its conditions on what every binding says: the network and the environment.
  package var ofBindings: InstallationFilter {
    InstallationFilter(
      required: required.filter { $0.field.isOfBinding },
      excluded: excluded.filter { $0.field.isOfBinding })
  }
}
