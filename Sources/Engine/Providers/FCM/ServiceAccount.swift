import Model
package import Reactor

/// A Google service account, as the Firebase console gives it out.
package struct ServiceAccount: Sendable {
  package let projectID: String
  package let clientEmail: String
  /// The audience that assertions name.
  package let tokenURI: String
  /// The URL that assertions are sent to.
  package let tokenEndpoint: String
  package let keyID: String?
  package let key: SigningKey

  /// Reads the account's JSON file.
  ///
  /// - Parameter tokenEndpoint: where tokens are exchanged in place of the account's `token_uri`.
  package init(file: String, tokenEndpoint: String? = nil) throws(CredentialFileError) {
    try self.init(
      json: try CredentialFile.read(file), file: file, tokenEndpoint: tokenEndpoint)
  }

  package init(
    json: [UInt8], file: String, tokenEndpoint: String? = nil
  ) throws(CredentialFileError) {
    let object = try ServiceAccountFile.object(json, file: file)
    func text(_ name: String) throws(CredentialFileError) -> String {
      guard let text = object[name]?.stringValue, !text.isEmpty else {
        throw CredentialFileError(
          file: file,
          problem: "has no \"\(name)\"; it must be the key file of a service account, as the "
            + "Firebase console makes it")
      }
      return text
    }
    projectID = try text("project_id")
    clientEmail = try text("client_email")
    tokenURI = try text("token_uri")
    self.tokenEndpoint = tokenEndpoint ?? tokenURI
    keyID = object["private_key_id"]?.stringValue
    // The project becomes part of a request path.
    guard TextRule.isWord(projectID, others: "-.:_") else {
      throw CredentialFileError(
        file: file, problem: "has a \"project_id\" with other than letters, digits and - . : _")
    }
    guard Self.isAcceptable(self.tokenEndpoint) else {
      throw CredentialFileError(
        file: file, problem: "has a \"token_uri\" that is not an https:// URL")
    }
    key = try SigningKey(
      content: Array(try text("private_key").utf8), file: "\(file) (private_key)",
      algorithm: .rs256)
  }

  /// A signed assertion must not cross a network in clear; a stand-in on this machine may be plain.
  private static func isAcceptable(_ url: String) -> Bool {
    if TextRule.hasControl(url) { return false }
    if url.hasPrefix("https://") { return true }
    return ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"].contains {
      url.hasPrefix($0)
    }
  }
}
