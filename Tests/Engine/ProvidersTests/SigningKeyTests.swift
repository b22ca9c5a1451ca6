import Foundation
import LocalServices
import Model
import Reactor
import Testing
import TestSupport

@testable import Providers

@Suite("Signing keys")
struct SigningKeyTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("an ES256 token carries kid and claims and verifies with the public key")
  func es256() throws {
    let apns = try APNsSigningKey(folder: folder.path)
    let key = try SigningKey(file: apns.file, algorithm: .es256)
    // Signatures are random; leading zeros of r or s show in about one of 128.
    for number in 0..<300 {
      let text = try JSONWebToken.make(
        keyID: "ABC123DEFG", claims: ["iss": .string("T\u{22}eam"), "iat": .integer(number)],
        key: key)
      let token = try #require(SignedToken(text))
      #expect(
        token.header
          == ["alg": .string("ES256"), "typ": .string("JWT"), "kid": .string("ABC123DEFG")])
      #expect(token.claims == ["iss": .string("T\u{22}eam"), "iat": .integer(number)])
      #expect(token.isSigned(by: apns.publicKeyPEM))
      #expect(JSONWebToken.isSigned(text, by: key))
    }
  }

  @Test("a key knows its own tokens from others'")
  func knowsItsTokens() throws {
    let apns = try APNsSigningKey(folder: folder.path)
    let key = try SigningKey(file: apns.file, algorithm: .es256)
    let text = try JSONWebToken.make(keyID: "A", claims: ["iat": .integer(1)], key: key)
    let others = try TemporaryFolder()
    let other = try SigningKey(
      file: try APNsSigningKey(folder: others.path).file, algorithm: .es256)
    #expect(!JSONWebToken.isSigned(text, by: other))
    let changed = text.replacing(".", with: "A.", maxReplacements: 1)
    for text in [changed, String(text.dropLast(4)), "\(text).", "\(text)!", "none", "", "."] {
      #expect(!JSONWebToken.isSigned(text, by: key), "\(text)")
    }
  }

  @Test("an RS256 token verifies with the public key, and not with another")
  func rs256() throws {
    let file = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    let other = try FCMServiceAccount(
      folder: folder.path, projectID: "other", tokenURI: "https://localhost/token")
    let account = try ServiceAccount(file: file.file)
    let text = try JSONWebToken.make(keyID: nil, claims: ["a": .bool(true)], key: account.key)
    let token = try #require(SignedToken(text))
    #expect(token.header == ["alg": .string("RS256"), "typ": .string("JWT")])
    #expect(token.isSigned(by: file.publicKeyPEM))
    #expect(!token.isSigned(by: other.publicKeyPEM))
    #expect(JSONWebToken.isSigned(text, by: account.key))
    #expect(!JSONWebToken.isSigned(text, by: try ServiceAccount(file: other.file).key))
  }

  @Test("a missing, empty, oversized or odd file is refused by name and not by content")
  func badFiles() throws {
    let missing = folder.file("missing.p8")
    expectProblem(missing, "cannot be opened: No such file or directory")
    expectProblem(folder.path, "is not a regular file")
    let cases: [(String, String)] = [
      ("", "is empty"),
      (
        "SECRET",
        "is a text without a \"-----BEGIN PRIVATE KEY-----\" line; "
          + SigningAlgorithm.es256.remedy
      ),
      (
        String(repeating: "x", count: ReactorLimits.keyFileBytesMax + 1),
        "is longer than 65536 bytes; is it the right file?"
      ),
    ]
    for (position, (content, problem)) in cases.enumerated() {
      let file = folder.file("key\(position).p8")
      try content.write(toFile: file, atomically: false, encoding: .utf8)
      expectProblem(file, problem)
    }
  }

  @Test("a key of the wrong kind is refused")
  func wrongKind() throws {
    let apns = try APNsSigningKey(folder: folder.path)
    #expect(throws: CredentialFileError.self) {
      try SigningKey(file: apns.file, algorithm: .rs256)
    }
    let short = Array(
      try OpenSSLCommand.run("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"))
    #expect(
      throws: CredentialFileError(
        file: "k",
        problem:
          "holds an RSA key of 1024 bits, but Google takes an RSA key of at least 2,048 bits; "
          + SigningAlgorithm.rs256.remedy)
    ) { try SigningKey(content: short, file: "k", algorithm: .rs256) }
  }

  private func expectProblem(_ file: String, _ problem: String) {
    #expect(throws: CredentialFileError(file: file, problem: problem)) {
      try SigningKey(file: file, algorithm: .es256)
    }
  }
}
