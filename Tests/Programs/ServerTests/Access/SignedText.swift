import COpenSSL
import Foundation
import Model
import Operations
import Providers
import Testing
import TestSupport

@testable import Server

/// User tokens as backends sign them, and as attackers would.
enum SignedText {
  static let secret = "0123456789abcdef0123456789abcdef"

  static func hmac(_ message: String, _ secret: [UInt8]) throws -> [UInt8] {
    let bytes = Array(message.utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    var length = 0
    let isDone = EVP_Q_mac(
      nil, "HMAC", nil, "SHA256", nil, secret, secret.count, bytes, bytes.count, &digest,
      digest.count, &length)
    try #require(isDone != nil && length == 32)
    return digest
  }

  /// The header and the claims, as the signature is over them.
  static func message(_ header: String, _ claims: String) -> String {
    "\(Base64URL.text(of: Array(header.utf8))).\(Base64URL.text(of: Array(claims.utf8)))"
  }

  /// Signed by HMAC, whatever the header says.
  static func hs256(
    _ claims: String, header: String = #"{"alg":"HS256","typ":"JWT"}"#,
    secret: [UInt8] = Array(secret.utf8)
  ) throws -> String {
    let message = message(header, claims)
    return "\(message).\(Base64URL.text(of: try hmac(message, secret)))"
  }

  /// A key on P-256 as backends have it: the private half signs, and the server has the public one.
  struct Pair {
    let signing: SigningKey
    let publicPEM: [UInt8]

    init() throws {
      let pem = try OpenSSLCommand.run(
        "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
      signing = try SigningKey(content: Array(pem), file: "private.pem", algorithm: .es256)
      publicPEM = Array(try OpenSSLCommand.run("pkey", "-pubout", input: pem))
    }

    func es256(_ claims: String, header: String = #"{"alg":"ES256"}"#) throws -> String {
      let message = message(header, claims)
      return "\(message).\(Base64URL.text(of: try signing.sign(Array(message.utf8))))"
    }
  }
}
