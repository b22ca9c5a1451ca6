import Foundation
import LocalServices
import Model
import Reactor
import Testing
import TestSupport

@testable import Providers

/// Keys as people have them, out of mails, environment variables and editors.
@Suite("Forms of signing keys")
struct SigningKeyFormsTests {
  private let pem: String
  private let der: Data
  private let publicKey: String

  init() throws {
    let key = try OpenSSLCommand.run(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    pem = String(decoding: key, as: UTF8.self)
    der = try OpenSSLCommand.run("pkcs8", "-topk8", "-nocrypt", "-outform", "DER", input: key)
    publicKey = String(
      decoding: try OpenSSLCommand.run("pkey", "-pubout", input: key), as: UTF8.self)
  }

  private var lines: [String] { pem.split(separator: "\n").map(String.init) }
  private var body: String { lines.dropFirst().dropLast().joined() }

  /// Whether the content is read as the key that the suite made.
  private func isRead(_ content: some Sequence<UInt8>) throws -> Bool {
    let key = try SigningKey(content: Array(content), file: "k.p8", algorithm: .es256)
    let token = try #require(SignedToken(JSONWebToken.make(keyID: nil, claims: [:], key: key)))
    return token.isSigned(by: publicKey)
  }

  @Test("a key is read in every form that is unambiguous")
  func reads() throws {
    let forms: [(String, String)] = [
      ("as it was made", pem),
      (
        "a blank line behind the header",
        pem.replacingOccurrences(of: "KEY-----\n", with: "KEY-----\n\n")
      ),
      ("indented lines", lines.map { "    \($0)" }.joined(separator: "\n")),
      ("tabs and trailing spaces", lines.map { "\t\($0)  " }.joined(separator: "\n")),
      ("one line with spaces", lines.joined(separator: " ")),
      ("one line without any break", lines.joined()),
      ("literal \\n", lines.joined(separator: "\\n")),
      ("literal \\r\\n", lines.joined(separator: "\\r\\n") + "\\r\\n"),
      ("doubled \\\\n", lines.joined(separator: "\\\\n")),
      ("a byte order mark", "\u{feff}" + pem),
      ("CRLF", lines.joined(separator: "\r\n")),
      ("old Mac's CR", lines.joined(separator: "\r")),
      ("no newline at the end", lines.joined(separator: "\n")),
      ("quotes about it", "\"\(lines.joined(separator: "\\n"))\""),
      ("a variable's assignment", "APNS_KEY='\(pem)'"),
      ("a YAML block", "key: |\n" + lines.map { "  \($0)" }.joined(separator: "\n")),
      (
        "slashes escaped as PHP does",
        lines.joined(separator: "\\n").replacingOccurrences(of: "/", with: "\\/")
      ),
      ("the body on one line", "\(lines[0])\n\(body)\n\(lines.last!)"),
      (
        "lines of 20 characters",
        ([lines[0]]
          + stride(from: 0, to: body.count, by: 20).map {
            String(body.dropFirst($0).prefix(20))
          } + [lines.last!]).joined(separator: "\n")
      ),
      ("blanks in the label lost", pem.replacingOccurrences(of: "PRIVATE KEY", with: "PRIVATEKEY")),
      (
        "dashes of a word processor",
        pem.replacingOccurrences(of: "-----", with: "\u{2014}\u{2014}-")
      ),
      ("no-break spaces", lines.map { "\u{a0}\($0)" }.joined(separator: "\n")),
      ("the body alone", body),
      ("Base64 of the file", Data(pem.utf8).base64EncodedString()),
      ("text in front and behind", "Key of the shop:\n\(pem)\nkeep it safe"),
      ("the key twice", pem + pem),
      ("its public key beside it", publicKey + pem),
    ]
    for (name, form) in forms { #expect(try isRead(form.utf8), "\(name)") }
    #expect(try isRead(der), "DER")
    #expect(try isRead(try #require(pem.data(using: .utf16))), "UTF-16")
    #expect(
      try isRead([0xff, 0xfe] + (try #require(pem.data(using: .utf16LittleEndian)))),
      "UTF-16, the low byte first")
  }

  @Test("OpenSSL's older form is read, also behind the parameters of its curve")
  func readsTraditional() throws {
    let old = try OpenSSLCommand.run("ec", input: Data(pem.utf8))
    #expect(String(decoding: old, as: UTF8.self).contains("BEGIN EC PRIVATE KEY"))
    #expect(try isRead(old))
    let parameters = try OpenSSLCommand.run("ecparam", "-name", "prime256v1")
    #expect(try isRead(parameters + old))
  }

  @Test("what is something else is told what it is, and what to give in its place")
  func tellsWhatItIs() throws {
    let key = Data(pem.utf8)
    func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }
    let request = try OpenSSLCommand.run(
      "req", "-new", "-key", "/dev/stdin", "-subj", "/CN=push", input: key)
    let certificate = try OpenSSLCommand.run(
      "req", "-x509", "-new", "-key", "/dev/stdin", "-subj", "/CN=push", input: key)
    let chain = try OpenSSLCommand.run(
      "crl2pkcs7", "-nocrl", "-certfile", "/dev/stdin", input: certificate)
    let openPGP =
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----\n"
    let encrypted = try OpenSSLCommand.run(
      "pkcs8", "-topk8", "-passout", "pass:open", input: key)
    let oldEncrypted = try OpenSSLCommand.run(
      "ec", "-aes128", "-passout", "pass:open", input: key)
    let folder = try TemporaryFolder()
    defer { folder.close() }
    let both = folder.file("both.pem")
    try (certificate + key).write(to: URL(fileURLWithPath: both))
    let container = try OpenSSLCommand.run(
      "pkcs12", "-export", "-in", both, "-passout", "pass:open")
    let rsa = try OpenSSLCommand.run(
      "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    let curve = try OpenSSLCommand.run(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp384r1")
    let edwards = try OpenSSLCommand.run("genpkey", "-algorithm", "ED25519")
    let other = try OpenSSLCommand.run(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    let cases: [(Data, String)] = [
      (certificate, "holds a certificate, but no private key"),
      (request, "holds a certificate signing request, but no private key"),
      (Data(publicKey.utf8), "holds a public key, but no private key"),
      (encrypted, "holds a private key that is encrypted with a password"),
      (oldEncrypted, "holds a private key that is encrypted with a password"),
      (chain, "holds a PKCS #7 container (.p7b), but no private key"),
      (Data(openPGP.utf8), "holds something of OpenPGP, but no private key"),
      (container, "holds a PKCS #12 container (.p12), but no private key"),
      (rsa, "holds an RSA key of 2048 bits, but APNs takes an EC key of the curve P-256"),
      (curve, "holds an EC key of the curve secp384r1, but APNs takes"),
      (edwards, "holds a private key of another kind, but APNs takes"),
      (key + other, "holds 2 private keys: leave only the one"),
      (Data("<!DOCTYPE html><html><body>Sign in</body></html>".utf8), "is an HTML page"),
      (Data("<html>\n\(pem)</html>".utf8), "is an HTML page"),
      (Data("<?xml version=\"1.0\"?><plist/>".utf8), "is an XML file"),
      (Data("{\"type\": \"service_account\"}".utf8), "is a JSON file"),
      (Data("{\\rtf1\\ansi \(pem)}".utf8), "is a rich text document"),
      (Data("PuTTY-User-Key-File-3: ecdsa\n".utf8), "is a key in PuTTY's form"),
      (Data([1, 0, 2, 0]), "is a binary file"),
      (Data("my secret key".utf8), "is a text without a \"-----BEGIN PRIVATE KEY-----\" line"),
      (Data("ABC123DEFG".utf8), "is a text without"),
      (
        Data(pem.replacingOccurrences(of: "\n", with: "n").utf8),
        "a shell took the backslash of \\n"
      ),
      (
        Data("\(lines[0])\nMIGT...your key...\n\(lines.last!)".utf8),
        "holds something that is no part of a key"
      ),
      (Data("\(lines[0])\n\(lines.last!)".utf8), "has nothing behind"),
      (Data(lines.dropLast(2).joined(separator: "\n").utf8), "of the 138 bytes that begin with"),
      (Data(pem.replacingOccurrences(of: lines[2], with: "").utf8), "of the 138 bytes that begin"),
      (der.dropLast(20), "holds 118 of its 138 bytes"),
      (Data("\(lines[0])\nAAAAAAAAAAAA\n\(lines.last!)".utf8), "holds neither a key nor"),
    ]
    for (content, expected) in cases {
      do throws(CredentialFileError) {
        _ = try SigningKey(content: Array(content), file: "k.p8", algorithm: .es256)
        Issue.record("\(expected): was read")
      } catch {
        #expect(error.problem.hasPrefix(expected) || error.problem.contains(expected), "\(error)")
        #expect(!error.problem.contains("cut off"))
        // What to do stands behind the cause.
        #expect(error.problem.contains(";") || error.problem.contains(": "), "\(error)")
        for line in lines.dropFirst().dropLast() { #expect(!error.problem.contains(line)) }
      }
    }
  }

  @Test("an account's key that is not RSA is told so")
  func needsRSA() {
    let error = #expect(throws: CredentialFileError.self) {
      try SigningKey(content: Array(pem.utf8), file: "a.json", algorithm: .rs256)
    }
    #expect(error?.problem.hasPrefix("holds an EC key of the curve prime256v1, but Google") == true)
    #expect(error?.problem.contains("Firebase console") == true)
  }
}
