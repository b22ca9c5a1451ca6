import Foundation
import LocalServices
import Testing
import TestSupport

@testable import Reactor

/// Push certificates as people have them, out of Keychain Access and OpenSSL.
@Suite("Client identities")
struct ClientIdentityTests {
  private let certificates: TestCertificates
  private let issued: IssuedCertificate
  private let root: String
  private let chain: String
  private let key: String

  init() throws {
    certificates = try TestCertificates()
    let intermediate = try CertificateAuthority(intermediateOf: certificates.authority)
    issued = try intermediate.issueClient(commonName: "app", p12Password: "secret")
    root = try String(contentsOfFile: certificates.authority.certificateFile, encoding: .utf8)
    chain = try String(contentsOfFile: issued.certificateFile, encoding: .utf8)
    key = try String(contentsOfFile: issued.keyFile, encoding: .utf8)
  }

  private static let isLegacyThere = [
    "/usr/lib/x86_64-linux-gnu/ossl-modules/legacy.so",
    "/usr/lib/aarch64-linux-gnu/ossl-modules/legacy.so",
  ].contains { FileManager.default.fileExists(atPath: $0) }

  private func write(_ content: Data, _ name: String = "push.file") throws -> String {
    let file = certificates.folder.file(name)
    try content.write(to: URL(fileURLWithPath: file))
    return file
  }

  private func write(_ text: String, _ name: String = "push.file") throws -> String {
    try write(Data(text.utf8), name)
  }

  /// How many certificates of the issued one's chain it carries; fails when its first is another one.
  private func read(_ file: String, _ password: String = "") throws -> Int {
    let identity = try ClientIdentity(file: file, password: password)
    let expected = try #require(
      try KeyFileContent(Array(chain.utf8), file: "", remedy: "").all(.certificate).first)
    #expect(identity.leafDER == expected.der)
    return identity.material.chain.count
  }

  /// As the Keychain of a Mac exports it: RC2 of 40 bits and 3DES.
  private func keychainExport(_ password: String) throws -> Data {
    try OpenSSLCommand.run(
      "pkcs12", "-export", "-legacy", "-in", issued.combinedFile, "-passout", "pass:\(password)")
  }

  @Test("the leaf is found by the key, wherever it stands among its issuers")
  func anyOrder() throws {
    let blocks = chain.components(separatedBy: "-----BEGIN").dropFirst().map { "-----BEGIN\($0)" }
    let (leaf, intermediate) = (blocks[0], blocks[1])
    let orders = [
      [leaf, intermediate, key], [intermediate, leaf, key], [key, intermediate, leaf],
      [root, intermediate, leaf, key], [intermediate, key, root, leaf],
    ]
    for order in orders { #expect(try read(try write(order.joined())) == 1) }
    #expect(try read(try write(leaf + key)) == 0)
  }

  @Test("a file is read by what it holds, whatever its name ends with")
  func byContent() throws {
    let p12 = try Data(contentsOf: URL(fileURLWithPath: try #require(issued.p12File)))
    #expect(try read(try write(p12, "push.pem"), "secret") == 1)
    #expect(try read(try write(p12, "push"), "secret") == 1)
    #expect(try read(try write(p12.base64EncodedString(), "push.txt"), "secret") == 1)
    #expect(try read(try write(chain + key, "push.p12")) == 1)
    #expect(
      try read(try write("\u{feff}" + (chain + key).replacingOccurrences(of: "\n", with: "\r\n")))
        == 1)
  }

  @Test("an encrypted key is opened with the password, in both of OpenSSL's forms")
  func encryptedKey() throws {
    for forms in [["pkcs8", "-topk8"], ["ec", "-aes128"]] {
      let encrypted = String(
        decoding: try OpenSSLCommand.run(
          forms[0], forms[1], "-passout", "pass:secret", input: Data(key.utf8)),
        as: UTF8.self)
      let file = try write(chain + encrypted)
      #expect(try read(file, "secret") == 1)
      expectProblem(file, "", "is encrypted: give the file of its password in password_file")
      expectProblem(file, "guess", "that the password in password_file does not open")
    }
  }

  @Test("so is an encrypted key of RSA, as Apple's certificates have", arguments: 1...3)
  func encryptedRSAKey(number: Int) throws {
    let folder = try TemporaryFolder()
    let (plain, certificate) = (folder.file("k.pem"), folder.file("c.pem"))
    _ = try OpenSSLCommand.run(
      "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=push", "-keyout", plain,
      "-out", certificate)
    let encrypted = try OpenSSLCommand.run(
      "pkcs8", "-topk8", "-in", plain, "-v2", "aes-256-cbc", "-passout", "pass:longer\(number)")
    let text = try String(contentsOfFile: certificate, encoding: .utf8)
    let file = try write(text + String(decoding: encrypted, as: UTF8.self))
    let identity = try ClientIdentity(file: file, password: "longer\(number)")
    let expected = try KeyFileContent(Array(text.utf8), file: "", remedy: "").all(.certificate)
    #expect(identity.leafDER == expected.first?.der)
    expectProblem(file, "guess", "that the password in password_file does not open")
  }

  @Test("a file that would keep a core busy for long is refused, and nothing is derived for it")
  func manyIterations() throws {
    let container = try OpenSSLCommand.run(
      "pkcs12", "-export", "-in", issued.combinedFile, "-passout", "pass:secret", "-iter", "1000")
    #expect(try read(try write(container), "secret") == 1)
    let bytes = Array(container)
    // INTEGER 1000: for the code of authenticity, the certificates and the key.
    let places = bytes.indices.dropLast(3).filter {
      bytes[$0..<$0 + 4].elementsEqual([0x02, 0x02, 0x03, 0xe8])
    }
    #expect(places.count == 3)
    for place in places {
      var changed = bytes
      // A number below 0 is as long. OpenSSL might take it for two thousand million.
      changed.replaceSubrange(place..<place + 4, with: [0x02, 0x02, 0x80, 0x00])
      expectProblem(
        try write(Data(changed)), "secret", "is a .p12 that takes more than 1000000 iterations")
    }
    for options in [["-iter", "1000001"], ["-scrypt", "-scrypt_N", "1024", "-scrypt_p", "4096"]] {
      let encrypted = try OpenSSLCommand.run(
        ["pkcs8", "-topk8", "-passout", "pass:secret"] + options, input: Data(key.utf8))
      expectProblem(
        try write(chain + String(decoding: encrypted, as: UTF8.self)), "secret",
        "holds a private key that takes more than 1000000 iterations")
    }
  }

  @Test("whoever cannot wait for so many iterations allows fewer, and is told how to do without")
  func fewerIterations() throws {
    let container = try OpenSSLCommand.run(
      "pkcs12", "-export", "-in", issued.combinedFile, "-passout", "pass:secret", "-iter", "1000")
    func read(_ content: Data, within iterationsMax: Int) throws(TLSError) {
      _ = try ClientIdentity(
        content: Array(content), file: "the value", password: "secret",
        iterationsMax: iterationsMax)
    }
    // For the code of authenticity, the certificates and the key, which may have twice as many in all.
    try read(container, within: 1_500)
    let error = #expect(throws: TLSError.self) { try read(container, within: 999) }
    #expect(
      error?.message
        == "the value is a .p12 that takes more than 999 iterations to open: open it once, and give push.pem in its place "
        + "(openssl pkcs12 -in push.p12 -nodes -out push.pem)", "\(String(describing: error))")
    let encrypted = try OpenSSLCommand.run(
      ["pkcs8", "-topk8", "-passout", "pass:secret", "-iter", "1000"], input: Data(key.utf8))
    let pem = Data(chain.utf8) + encrypted
    try read(pem, within: 1_000)
    let other = #expect(throws: TLSError.self) { try read(pem, within: 999) }
    #expect(
      other?.message.contains("(openssl pkey -in push.pem -out key.pem)") == true,
      "\(String(describing: other))")
  }

  @Test("an export of the Keychain is read, with its chain", .enabled(if: isLegacyThere))
  func legacy() throws {
    let file = try write(try keychainExport("secret"))
    #expect(try read(file, "secret") == 1)
    #expect(try read(try write(try keychainExport(""))) == 1)
    // The keys of others, and TLS, go on without the old ciphers.
    #expect(try read(try write(chain + key)) == 1)
  }

  @Test("a wrong password and an old cipher are told apart", .enabled(if: isLegacyThere))
  func tellsApart() throws {
    let file = try write(try keychainExport("secret"))
    expectProblem(file, "guess", "another password than the one in password_file")
    expectProblem(file, "", "is a .p12 with a password: give the file of the password")
    let error = #expect(throws: TLSError.self) {
      try ClientIdentity(file: file, password: "secret", modules: "/nowhere")
    }
    let message = try #require(error?.message)
    #expect(message.hasPrefix("\(file) is encrypted with pbeWithSHA1And40BitRC2-CBC"))
    #expect(message.contains("openssl pkcs12 -in \(file) -nodes -out push.pem"))
    #expect(!message.contains("password"))
    let wrong = #expect(throws: TLSError.self) {
      try ClientIdentity(file: file, password: "guess", modules: "/nowhere")
    }
    #expect(wrong?.message.contains("another password") == true)
  }

  @Test("of certificates for the same key the one that holds the longest counts")
  func longest() throws {
    func certificate(_ days: String) throws -> String {
      String(
        decoding: try OpenSSLCommand.run(
          "req", "-x509", "-new", "-key", issued.keyFile, "-subj", "/CN=push", "-days", days),
        as: UTF8.self)
    }
    let (short, long) = (try certificate("1"), try certificate("300"))
    for order in [short + long, long + short] {
      let identity = try ClientIdentity(file: try write(order + key))
      let expected = try KeyFileContent(Array(long.utf8), file: "", remedy: "").objects[0]
      #expect(identity.leafDER == expected.der)
    }
  }

  @Test("what is something else is told what it is, and what to do")
  func tellsWhatItIs() throws {
    let other = try certificates.authority.issueClient(commonName: "other", fileName: "other")
    let request = try OpenSSLCommand.run(
      "req", "-new", "-key", issued.keyFile, "-subj", "/CN=push")
    let p12 = try Data(contentsOf: URL(fileURLWithPath: try #require(issued.p12File)))
    let cases: [(Data, String)] = [
      (Data(chain.utf8), "holds a certificate without its private key; export"),
      (Data(key.utf8), "a .p8 belongs into key_file"),
      (request, "holds a certificate signing request, but no certificate with its private key"),
      (
        Data(chain.utf8) + (try Data(contentsOf: URL(fileURLWithPath: other.keyFile))),
        "does not belong to any certificate"
      ),
      (
        Data((chain + key).utf8) + (try Data(contentsOf: URL(fileURLWithPath: other.keyFile))),
        "holds 2 private keys"
      ),
      (p12.dropLast(100), "bytes: copy the whole file again"),
      (Data("<!doctype html><title>Sign in</title>".utf8), "is an HTML page"),
    ]
    for (content, expected) in cases { expectProblem(try write(content), "secret", expected) }
    let der = try #require(
      try KeyFileContent(Array(chain.utf8), file: "", remedy: "").all(.certificate).first?.der)
    expectProblem(
      try write(Data(der), "aps.cer"), "", "holds a certificate without its private key")
  }

  @Test("authorities are read from PEM and from DER, and anything else is told what it is")
  func authorities() throws {
    let object = try #require(
      try KeyFileContent(Array(root.utf8), file: "", remedy: "").objects.first)
    for file in [
      try write(root, "a"), try write(Data(object.der), "b"),
      try write("Our root:\r\n" + root + root, "c"),
    ] {
      _ = try TrustStore(caFile: file)
    }
    for (content, expected) in [(key, "holds a private key, but no certificate"), ("", "is empty")]
    {
      let file = try write(content, "bad")
      let error = #expect(throws: TLSError.self) { try TrustStore(caFile: file) }
      #expect(error?.message.contains("\(file) \(expected)") == true, "\(expected)")
    }
  }

  private func expectProblem(_ file: String, _ password: String, _ expected: String) {
    let error = #expect(throws: TLSError.self) {
      try ClientIdentity(file: file, password: password)
    }
    #expect(error?.message.hasPrefix(file) == true)
    #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    if !password.isEmpty { #expect(error?.message.contains("\(password) ") == false) }
  }
}
