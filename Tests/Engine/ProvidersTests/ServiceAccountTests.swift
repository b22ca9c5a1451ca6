import Foundation
import LocalServices
import Reactor
import Testing

@testable import Providers

@Suite("Service accounts")
struct ServiceAccountTests {
  @Test("each missing or wrong member is named")
  func members() throws {
    let folder = try TemporaryFolder()
    let file = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token").file
    let good = try String(contentsOfFile: file, encoding: .utf8)
    let account = try ServiceAccount(json: Array(good.utf8), file: "a.json")
    #expect(account.projectID == "demo-shop")
    #expect(account.tokenEndpoint == "https://localhost/token")

    for name in ["project_id", "client_email", "token_uri", "private_key"] {
      let bad = good.replacingOccurrences(of: "\"\(name)\":", with: "\"x\(name)\":")
      #expect(problem(bad)?.contains("has no \"\(name)\"") == true)
    }
    let changes = [
      ("\"service_account\"", "\"authorized_user\"", "is of type \"authorized_user\""),
      ("https://localhost/token", "http://tokens.example/token", "not an https:// URL"),
      ("https://localhost/token", "https://localhost/\\ntoken", "not an https:// URL"),
      ("\"demo-shop\"", "\"demo/../shop\"", "has a \"project_id\" with other than"),
      ("-----BEGIN PRIVATE KEY-----", "SECRET", "(private_key) is a text without"),
    ]
    for (old, new, expected) in changes {
      let bad = good.replacingOccurrences(of: old, with: new)
      #expect(problem(bad)?.contains(expected) == true, "\(new)")
    }
    #expect(problem("[]")?.contains("is an array and not an object") == true)
    #expect(problem("{")?.contains("not valid JSON") == true)
  }

  @Test("a configured endpoint stands in for the token_uri, which stays the audience")
  func endpoint() throws {
    let folder = try TemporaryFolder()
    let file = try FCMServiceAccount(folder: folder.path, tokenURI: "https://a/token").file
    let account = try ServiceAccount(file: file, tokenEndpoint: "https://b:8443/token")
    #expect(account.tokenURI == "https://a/token")
    #expect(account.tokenEndpoint == "https://b:8443/token")
  }

  private func problem(_ json: String) -> String? {
    do throws(CredentialFileError) {
      _ = try ServiceAccount(json: Array(json.utf8), file: "a.json")
      return nil
    } catch {
      #expect(error.file.hasPrefix("a.json"))
      return error.description
    }
  }
}
