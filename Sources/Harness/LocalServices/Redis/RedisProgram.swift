import Glibc

/// The server program that servers, nodes and sentinels of this machine are started with: Redis's own, or another that speaks as
/// it does.
package enum RedisProgram {
  /// The variable of the environment that names another one, such as `valkey-server`: a path, or a name to look for on PATH.
  package static let variable = "TEST_REDIS"

  package static var name: String { name(given: getenv(variable).map { String(cString: $0) }) }

  /// - Parameter named: the value of the variable; nil when it is not set.
  package static func name(given named: String?) -> String {
    named.flatMap { $0.isEmpty ? nil : $0 } ?? "redis-server"
  }

  /// The advice when it cannot be started.
  static let advice =
    "install the package redis-server of Debian or Ubuntu, or run `make deps`; "
    + "\(variable) names another server program, such as valkey-server"
}
