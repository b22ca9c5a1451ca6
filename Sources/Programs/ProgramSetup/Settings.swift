internal import Glibc
package import PushpoolConfiguration

/// How a program finds its configuration: of the file if there is one, else the defaults and the environment.
package enum Settings {
  package static let fileDefault = "pushpool.yaml"

  /// An option of the command line that goes before a variable, which goes before the file.
  package typealias Override = (option: String, variable: String, value: String?)

  /// - Parameter file: what `--config` names.
  package static func load(
    file named: String?, overrides: [Override]
  ) throws(CommandFailure) -> Configuration {
    let file = try file(named)
    let environment = environment(overrides)
    return try load(overrides: overrides) { () throws(ConfigurationError) in
      try Configuration.load(file: file, environment: environment)
    }
  }

  /// The configuration as `read` reads it: a value that an option gave is refused by the option's name.
  package static func load(
    overrides: [Override], by read: () throws(ConfigurationError) -> Configuration
  ) throws(CommandFailure) -> Configuration {
    do throws(ConfigurationError) { return try read() } catch {
      if let override = overrides.first(where: { $0.value != nil && $0.variable == error.file }) {
        throw CommandFailure(.usage, "\(override.option) \(error.message)")
      }
      throw CommandFailure(.configuration, error.description)
    }
  }

  /// The configuration file; nil when there is none.
  /// - Parameter named: what `--config` names.
  package static func file(_ named: String?) throws(CommandFailure) -> String? {
    let file = named ?? Environment.variables["PUSHPOOL_CONFIG"]
    if file?.isEmpty == true {
      throw CommandFailure(
        .configuration, "PUSHPOOL_CONFIG is set but empty: give it a value, or unset it")
    }
    return file ?? (access(fileDefault, F_OK) == 0 ? fileDefault : nil)
  }

  /// The variables that go before the file, with the options among them.
  package static func environment(_ overrides: [Override]) -> [String: String] {
    var environment = Environment.variables
    environment["PUSHPOOL_CONFIG"] = nil
    for override in overrides where override.value != nil {
      environment[override.variable] = override.value
    }
    return environment
  }
}
