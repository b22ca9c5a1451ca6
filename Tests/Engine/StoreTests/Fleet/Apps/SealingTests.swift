import LocalServices
import Model
import PushpoolConfiguration
import Reactor
import Testing

@testable import Store

/// How the secrets of apps in Redis are encrypted, and what they are bound to.
@Suite struct SealingTests {
  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
    }
  }

  /// Test cases 13, 14 and 16 of "The Galois/Counter Mode of Operation (GCM)" by McGrew and Viega.
  private static let vectors:
    [(key: String, nonce: String, plain: String, context: String, sealed: String)] = [
      (
        String(repeating: "00", count: 32), String(repeating: "00", count: 12), "", "",
        "530f8afbc74536b9a963b4f1c4cb738b"
      ),
      (
        String(repeating: "00", count: 32), String(repeating: "00", count: 12),
        String(repeating: "00", count: 16), "",
        "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
      ),
      (
        "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
        "cafebabefacedbaddecaf888",
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
      ),
    ]

  @Test("the cipher is AES-256-GCM, as its authors' test cases have it", arguments: 0..<3)
  func vectors(number: Int) {
    let vector = Self.vectors[number]
    let (key, nonce) = (Self.bytes(vector.key), Self.bytes(vector.nonce))
    let context = Self.bytes(vector.context)
    let sealed = AES256GCM.seal(
      Self.bytes(vector.plain), key: key, nonce: nonce, context: context)
    #expect(sealed == Self.bytes(vector.sealed))
    #expect(
      AES256GCM.open(sealed, key: key, nonce: nonce, context: context)
        == Self.bytes(vector.plain))
  }

  @Test("each changed bit of text, tag, nonce, key or context is noticed")
  func tamper() {
    let (key, nonce) = (RandomBytes.make(32), RandomBytes.make(12))
    let (plain, context) = (Array("a secret".utf8), Array("a place".utf8))
    let sealed = AES256GCM.seal(plain, key: key, nonce: nonce, context: context)
    func changed(_ bytes: [UInt8], _ bit: Int) -> [UInt8] {
      var bytes = bytes
      bytes[bit / 8] ^= 1 << (bit % 8)
      return bytes
    }
    for bit in 0..<sealed.count * 8 {
      #expect(
        AES256GCM.open(changed(sealed, bit), key: key, nonce: nonce, context: context) == nil)
    }
    for bit in 0..<nonce.count * 8 {
      #expect(
        AES256GCM.open(sealed, key: key, nonce: changed(nonce, bit), context: context) == nil)
    }
    for bit in 0..<key.count * 8 {
      #expect(
        AES256GCM.open(sealed, key: changed(key, bit), nonce: nonce, context: context) == nil)
    }
    for bit in 0..<context.count * 8 {
      #expect(
        AES256GCM.open(sealed, key: key, nonce: nonce, context: changed(context, bit)) == nil)
    }
    for count in 0..<sealed.count {
      #expect(
        AES256GCM.open(Array(sealed[..<count]), key: key, nonce: nonce, context: context) == nil)
    }
    #expect(AES256GCM.open(sealed, key: key, nonce: nonce, context: context) == plain)
  }

  @Test("a secret opens in its own place only")
  func places() throws {
    let keys = SealingKeys(.random())
    let form: JSONObject = ["fcm": .object([:])]
    let facts = AppSecretFacts(digest: "0123456789abcdef", setAtMs: 5)
    let place = SealedPlace(app: "shop", .fcm(.serviceAccount), form: form)
    let secret = AppSecret(Array("hidden".utf8))
    let sealed = keys.seal(secret, facts, for: place)
    #expect(try keys.open(sealed, for: place) == secret)
    for other in [
      SealedPlace(app: "shop2", .fcm(.serviceAccount), form: form),
      SealedPlace(app: "shop", .jpush(.masterSecret), form: form),
      SealedPlace(app: "shop", .fcm(.serviceAccount), form: ["fcm": .object(["ca": .null])]),
      SealedPlace(app: "", .fcm(.serviceAccount), form: form),
    ] {
      #expect(throws: SealFault.changed) { try keys.open(sealed, for: other) }
    }
    for facts in [
      AppSecretFacts(digest: "0123456789abcdef", setAtMs: 6),
      AppSecretFacts(digest: nil, setAtMs: 5),
    ] {
      let other = SealedSecret(
        keyID: sealed.keyID, nonce: sealed.nonce, sealed: sealed.sealed, facts: facts)
      #expect(throws: SealFault.changed) { try keys.open(other, for: place) }
    }
  }

  @Test("the same secret is never sealed to the same bytes")
  func nonces() {
    let keys = SealingKeys(.random())
    let place = SealedPlace(app: "shop", .fcm(.serviceAccount), form: [:])
    let sealed = (0..<64).map { _ in
      keys.seal(
        AppSecret(Array("hidden".utf8)), AppSecretFacts(digest: nil, setAtMs: 5), for: place)
    }
    #expect(Set(sealed.map(\.nonce)).count == 64)
    #expect(Set(sealed.map(\.sealed)).count == 64)
  }

  @Test("the newest key seals, older ones open, and one that is not there is named")
  func rotation() throws {
    let (old, new) = (SealingKey.random(), SealingKey.random())
    let place = SealedPlace(app: "shop", .fcm(.serviceAccount), form: [:])
    let (secret, facts) = (AppSecret([1, 2, 3]), AppSecretFacts(digest: nil, setAtMs: 5))
    let before = SealingKeys(old).seal(secret, facts, for: place)
    let both = SealingKeys(new, [old])
    #expect(before.keyID == old.id && old.id != new.id)
    #expect(try both.open(before, for: place) == secret)
    let after = both.seal(secret, facts, for: place)
    #expect(after.keyID == new.id)
    #expect(try SealingKeys(new).open(after, for: place) == secret)
    #expect(throws: SealFault.unknownKey(id: old.id)) {
      try SealingKeys(new).open(before, for: place)
    }
    #expect("\(SealFault.unknownKey(id: old.id))".contains("is sealed with the key \(old.id)"))
  }

  @Test("a key file has 32 random bytes in Base64, and any other says what to do")
  func files() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("apps.key")
    let key = SealingKey.random()
    try PrivateFile.write(key.fileText, to: file)
    #expect(try SealingKey(file: file) == key)
    // Without the padding and its line's end it is the same.
    try PrivateFile.write(String(key.fileText.prefix { $0 != "=" }), to: file)
    #expect(try SealingKey(file: file) == key)
    for (text, part) in [
      (Base64.text(of: Array(0..<31)), "holds 31"), ("no key!", "holds something else"),
      (String(repeating: "A", count: 43) + "=", "holds no random bytes"),
      (String(repeating: "A", count: 2_000), "is longer than 1024 bytes"), ("", "is empty"),
    ] {
      try PrivateFile.write(text, to: file)
      let error = #expect(throws: CredentialFileError.self) { try SealingKey(file: file) }
      #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    }
    #expect(!"\(key)".contains(Base64.text(of: Array(key.fileText.utf8))))
    #expect(String(reflecting: key) == "the key \(key.id)")
  }

  @Test("a bad key file is named at the line of the configuration")
  func configured() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write(SealingKey.random().fileText, to: folder.file("new.key"))
    try PrivateFile.write("nothing", to: folder.file("old.key"))
    let configuration = try Configuration.parse(
      "redis: {}\napps_in_redis:\n  key_files:\n    - new.key\n    - old.key\n",
      file: folder.file("pushpool.yaml"))
    let error = #expect(throws: ConfigurationError.self) { try SealingKeys(configuration) }
    #expect(error?.line == 5 && error?.field == "apps_in_redis.key_files")
    #expect(error?.message.contains(folder.file("old.key")) == true)
    #expect(try SealingKeys(Configuration()) == nil)
  }
}
