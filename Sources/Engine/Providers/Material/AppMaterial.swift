package import Model
package import Reactor

/// All that an app sends with, wherever it came from: `ProviderBuilder` makes providers of it.
package struct AppMaterial: Sendable {
  package var id: String
  /// How many pushes of it the fleet together begins in a second; nil for any number.
  package var pushesPerSecond: Int?
  package var apns: [PushEnvironment: APNsMaterial] = [:]
  package var fcm: FCMMaterial?
  package var jpush: JPushMaterial?

  package init(id: String, pushesPerSecond: Int? = nil) {
    self.id = id
    self.pushesPerSecond = pushesPerSecond
  }
}

/// The bytes of a key, an account, a certificate or a password. No description shows them.
package struct MaterialBytes: Sendable {
  package let bytes: [UInt8]
  /// Where they came from, for messages: the path of a file.
  package let source: String

  package init(_ bytes: [UInt8], source: String) {
    self.bytes = bytes
    self.source = source
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

/// An app at APNs, in one environment.
package struct APNsMaterial: Sendable {
  package enum Credential: Sendable {
    /// A signing key, as Apple gives it out.
    case token(key: MaterialBytes, keyID: String, teamID: String)
    /// A certificate with its key.
    case certificate(MaterialBytes, password: MaterialBytes?)
  }

  package var credential: Credential
  package var topic: String
  package var access: AccessMaterial

  package init(credential: Credential, topic: String, access: AccessMaterial = AccessMaterial()) {
    self.credential = credential
    self.topic = topic
    self.access = access
  }
}

/// An app at FCM.
package struct FCMMaterial: Sendable {
  /// The JSON of a service account.
  package var account: MaterialBytes
  /// Where tokens are exchanged in place of the account's `token_uri`.
  package var tokenEndpoint: String?
  /// The quota of the project.
  package var messagesPerMinute: Int
  package var access: AccessMaterial

  package init(
    account: MaterialBytes, tokenEndpoint: String? = nil, messagesPerMinute: Int,
    access: AccessMaterial = AccessMaterial()
  ) {
    self.account = account
    self.tokenEndpoint = tokenEndpoint
    self.messagesPerMinute = messagesPerMinute
    self.access = access
  }
}

/// An app at JPush.
package struct JPushMaterial: Sendable {
  package var appKey: String
  package var masterSecret: MaterialBytes
  package var access: AccessMaterial

  package init(
    appKey: String, masterSecret: MaterialBytes, access: AccessMaterial = AccessMaterial()
  ) {
    self.appKey = appKey
    self.masterSecret = masterSecret
    self.access = access
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
