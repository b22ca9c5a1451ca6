package import PushpoolConfiguration
package import Reactor

/// A key that seals the secrets of apps in Redis. Workers, servers and whoever adds apps have it; Redis never does.
package struct SealingKey: Sendable, Equatable {
  /// The name of the key beside what it sealed: 16 hexadecimal digits of a digest. Nothing of the key can be had from it.
  package let id: String
  fileprivate let bytes: [UInt8]

  /// - Parameter bytes: 32, at random.
  init(_ bytes: [UInt8]) {
    precondition(bytes.count == AES256GCM.keyBytes, "a key of another size")
    self.bytes = bytes
    id = ContentDigest.hex(Array("pushpool apps key\n".utf8) + bytes, count: 8)
  }

  /// Reads a file of 32 bytes in Base64.
  package init(file: String) throws(CredentialFileError) {
    func refused(_ problem: String) -> CredentialFileError {
      CredentialFileError(
        file: file, problem: "\(problem); make one with: openssl rand -base64 32 > \(file)")
    }
    let text = try CredentialFile.read(file, bytesMax: StoreLimits.appKeyFileBytesMax)
    guard case .bytes(let bytes) = Base64.content(of: text) else {
      throw refused("must be a key in Base64, and holds something else")
    }
    guard bytes.count == AES256GCM.keyBytes else {
      throw refused(
        "must be a key of \(AES256GCM.keyBytes) bytes in Base64, and holds \(bytes.count)")
    }
    // As a file has them that somebody zeroed, or typed.
    guard Set(bytes).count > 4 else {
      throw refused("holds no random bytes")
    }
    self.init(bytes)
  }

  /// A new key.
  package static func random() -> SealingKey { SealingKey(RandomBytes.make(AES256GCM.keyBytes)) }

  /// The text of a file with the key.
  package var fileText: String { Base64.text(of: bytes) + "\n" }
}

extension SealingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "the key \(id)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// Keys of which the first seals and any opens.
package struct SealingKeys: Sendable, Equatable {
  /// The newest first; one at least.
  package let all: [SealingKey]

  package init(_ newest: SealingKey, _ older: [SealingKey] = []) { all = [newest] + older }

  /// Reads the files that a configuration names.
  /// - Throws: what is wrong with a file, at the line that names it.
  package init?(_ configuration: Configuration) throws(ConfigurationError) {
    guard let files = configuration.appsInRedis?.keyFiles, !files.isEmpty else { return nil }
    var keys: [SealingKey] = []
    for file in files {
      do throws(CredentialFileError) { keys.append(try SealingKey(file: file)) } catch {
        let field = AppsInRedisConfiguration.keyFilesField
        let place = configuration.files.first { $0.path == file && $0.field == field }
        throw ConfigurationError(
          file: place?.namedIn ?? file, line: place?.line, field: field,
          message: error.description)
      }
    }
    all = keys
  }

  /// The ids of these keys that are among some. The texts are the keys' own: thousands of apps share them.
  package func ids(among some: [String]) -> [String] {
    all.map(\.id).filter { some.contains($0) }
  }

  /// The key that seals.
  package var newest: SealingKey { all[0] }

  /// Seals a secret for one place.
  package func seal(
    _ secret: AppSecret, _ facts: AppSecretFacts, for place: SealedPlace
  ) -> SealedSecret {
    let nonce = RandomBytes.make(AES256GCM.nonceBytes)
    return SealedSecret(
      keyID: newest.id, nonce: nonce,
      sealed: AES256GCM.seal(
        secret.bytes, key: newest.bytes, nonce: nonce, context: place.context(facts)),
      facts: facts)
  }

  /// Opens what was sealed for this place.
  package func open(
    _ sealed: SealedSecret, for place: SealedPlace
  ) throws(SealFault) -> AppSecret {
    guard let key = all.first(where: { $0.id == sealed.keyID }) else {
      throw .unknownKey(id: sealed.keyID)
    }
    guard
      let bytes = AES256GCM.open(
        sealed.sealed, key: key.bytes, nonce: sealed.nonce, context: place.context(sealed.facts))
    else { throw .changed }
    return AppSecret(bytes)
  }
}

/// Why a sealed secret cannot be opened.
package enum SealFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// None of the keys at hand has sealed it.
  case unknownKey(id: String)
  /// The secret, or something of the record that it is bound to, is not as it was sealed.
  case changed

  /// The end of a sentence that begins with the secret's place.
  package var description: String {
    switch self {
    case .unknownKey(let id):
      "is sealed with the key \(id), which no file of \(AppsInRedisConfiguration.keyFilesField) holds"
    case .changed:
      "cannot be opened: the record is not as it was written; set the app anew (pushpool app set)"
    }
  }
}

/// Random bytes that nobody guesses. Swift takes them from getrandom(2).
enum RandomBytes {
  static func make(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
