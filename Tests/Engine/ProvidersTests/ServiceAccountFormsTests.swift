import Foundation
import LocalServices
import Model
import Reactor
import Testing

@testable import Providers

/// Service accounts as people have them, out of secrets, environment variables and editors.
@Suite("Forms of service accounts")
struct ServiceAccountFormsTests {
  private let account: FCMServiceAccount
  private let json: String

  init() throws {
    let folder = try TemporaryFolder()
    account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    json = try String(contentsOfFile: account.file, encoding: .utf8)
    #expect(json.contains("\\n"))
  }

  private func isRead(_ content: some Sequence<UInt8>) throws -> Bool {
    let read = try ServiceAccount(json: Array(content), file: "a.json")
    let token = try #require(
      SignedToken(JSONWebToken.make(keyID: nil, claims: [:], key: read.key)))
    return read.projectID == "demo-shop" && token.isSigned(by: account.publicKeyPEM)
  }

  @Test("an account is read in every form that is unambiguous")
  func reads() throws {
    let quoted = String(
      decoding: try JSONEncoder().encode(json), as: UTF8.self)
    let forms: [(String, String)] = [
      ("as it was made", json),
      ("a byte order mark", "\u{feff}" + json),
      ("CRLF at its ends", json + "\r\n\r\n"),
      ("doubled \\\\n in the key", json.replacingOccurrences(of: "\\n", with: "\\\\n")),
      ("real line breaks in the key", json.replacingOccurrences(of: "\\n", with: "\n")),
      ("real CRLF in the key", json.replacingOccurrences(of: "\\n", with: "\r\n")),
      ("spaces in place of the key's breaks", json.replacingOccurrences(of: "\\n", with: " ")),
      ("a key without breaks", json.replacingOccurrences(of: "\\n", with: "")),
      ("a JSON string", quoted),
      ("Base64", Data(json.utf8).base64EncodedString()),
      (
        "Base64 in lines",
        Data(json.utf8).base64EncodedString(options: [.lineLength76Characters])
      ),
    ]
    for (name, form) in forms { #expect(try isRead(form.utf8), "\(name)") }
    #expect(try isRead(try #require(json.data(using: .utf16))), "UTF-16")
  }

  @Test("what is something else is told what it is, and where to get the right file")
  func tellsWhatItIs() throws {
    let cases: [(String, String)] = [
      (
        #"{"project_info": {"project_id": "demo-shop"}, "client": []}"#,
        "is google-services.json, which the app has"
      ),
      (#"{"installed": {"client_id": "1"}}"#, "is an OAuth client"),
      (#"{"web": {"client_id": "1"}}"#, "is an OAuth client"),
      (#"{"type": "authorized_user"}"#, "is of type \"authorized_user\""),
      ("[1]", "is an array and not an object"),
      ("\"text\"", "is a string and not an object"),
      ("<html></html>", "is an HTML page"),
      ("<?xml version=\"1.0\"?><plist/>", "is an XML file"),
      ("AAAAabc:APA91bEXAMPLE", "is not valid JSON at byte 0"),
      (account.publicKeyPEM, "holds a public key and no JSON"),
    ]
    for (content, expected) in cases {
      do throws(CredentialFileError) {
        _ = try ServiceAccount(json: Array(content.utf8), file: "a.json")
        Issue.record("\(expected): was read")
      } catch {
        #expect(error.problem.hasPrefix(expected), "\(error)")
        #expect(error.problem.contains("Firebase console"), "\(error)")
      }
    }
  }
}
