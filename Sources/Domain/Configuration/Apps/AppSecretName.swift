internal import Model

/// The place of a secret in what describes an app, such as `apns.production.key`.
package struct AppSecretName: Sendable, Hashable {
  package enum Field: String, Sendable, CaseIterable {
    /// A signing key of APNs.
    case key
    /// A certificate of APNs with its private key.
    case certificate
    /// The password of the certificate.
    case password
    /// The account of FCM.
    case serviceAccount = "service_account"
    /// JPush's.
    case masterSecret = "master_secret"
    /// The password of the user at a proxy.
    case proxyPassword = "proxy_password"

    /// Whether people choose it: a digest of it could be guessed.
    package var isGuessable: Bool { self == .password || self == .proxyPassword }

    /// Whether it is a word in one line.
    var isOneLine: Bool { isGuessable || self == .masterSecret }

    /// Whether it may be given as JSON, too.
    var isJSON: Bool { self == .serviceAccount }
  }

  /// The section that it stands in, such as `apns.production`.
  package let part: String
  package let field: Field

  init(_ part: String, _ field: Field) {
    self.part = part
    self.field = field
  }

  /// Nil when no app has a secret of this name.
  package init?(_ text: String) {
    guard let name = Self.all.first(where: { $0.text == text }) else { return nil }
    self = name
  }

  package var text: String { "\(part).\(field.rawValue)" }

  /// The JSON pointer of its place.
  package var pointer: String { "/" + text.replacing(".", with: "/") }
}

/// A secret of an app. No description shows it.
package struct AppSecret: Sendable, Equatable {
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension AppSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
