package import Reactor

/// All that an app sends with, wherever it came from: `ProviderBuilder` makes providers of it.
package struct AppMaterial: Sendable {
  package var id: String
  /// How many pushes of it the fleet together begins in a second; nil for any number.
  package var pushesPerSecond: Int?
  /// Its accounts at the push networks.
  package var accounts: [any NetworkMaterial]
  /// Whether the app stands in Redis, where others add apps.
  package var standsInRedis = false

  package init(
    id: String, pushesPerSecond: Int? = nil, accounts: [any NetworkMaterial] = []
  ) {
    self.id = id
    self.pushesPerSecond = pushesPerSecond
    self.accounts = accounts
  }
}

/// The bytes of a key, an account, a certificate or a password. No description shows them.
package struct MaterialBytes: Sendable {
  package let bytes: [UInt8]
  /// Where they came from, for messages about what they hold: the path of a file.
  package let source: String
  /// The same for messages about what became of them later.
  package let place: SecretPlace

  /// - Parameter place: nil for the file that `source` names.
  package init(_ bytes: [UInt8], source: String, place: SecretPlace? = nil) {
    self.bytes = bytes
    self.source = source
    self.place = place ?? .file(source)
  }
}

extension MaterialBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "\(bytes.count) bytes of \(source)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["source": source]) }
}

/// How a network is reached, where that is other than usual.
package struct AccessMaterial: Sendable {
  package var address: ServiceAddress?
  /// Certificates of authorities to trust beside the system's; nil for none.
  package var authorities: MaterialBytes?
  package var proxy: ProxyServer?

  package init(
    address: ServiceAddress? = nil, authorities: MaterialBytes? = nil, proxy: ProxyServer? = nil
  ) {
    self.address = address
    self.authorities = authorities
    self.proxy = proxy
  }
}

/// A part of an app's material that cannot be used.
package struct MaterialProblem: Error, Sendable, Equatable {
  /// The part's name within the app, for instance `apns.production.key_file`.
  package let part: String
  /// Where the part came from, as `MaterialBytes.source`; nil for what is no file.
  package let source: String?
  /// A sentence for the operator, without secrets.
  package let message: String

  package init(part: String, source: String?, message: String) {
    self.part = part
    self.source = source
    self.message = message
  }
}
