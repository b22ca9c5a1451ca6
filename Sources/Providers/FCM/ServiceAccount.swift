import Model

/// A Google service account, as the Firebase console gives it out.
package struct ServiceAccount: Sendable {
  package let projectID: String
  package let clientEmail: String
  package let tokenURI: String
  package let keyID: String?
  package let key: SigningKey

  /// Reads the account's JSON file.
  package init(file: String) throws(CredentialFileError) {
    try self.init(json: try CredentialFile.read(file), file: file)
  }

  package init(json: [UInt8], file: String) throws(CredentialFileError) {
    let object: JSONObject
    do throws(JSONSyntaxError) {
      guard let value = try JSONParser().parse(json).objectValue else {
        throw JSONSyntaxError(offset: 0, message: "is not an object")
      }
      object = value
    } catch {
      throw CredentialFileError(file: file, problem: "is \(error.description)")
    }
    func text(_ name: String) throws(CredentialFileError) -> String {
      guard let text = object[name]?.stringValue, !text.isEmpty else {
        throw CredentialFileError(
          file: file,
          problem: "has no \"\(name)\"; it must be the key file of a service account, as the "
            + "Firebase console makes it")
      }
      return text
    }
    if let type = object["type"]?.stringValue, type != "service_account" {
      throw CredentialFileError(
        file: file,
        problem: "is of type \"\(FieldPointer.printable(type))\"; it must be \"service_account\"")
    }
    projectID = try text("project_id")
    clientEmail = try text("client_email")
    tokenURI = try text("token_uri")
    keyID = object["private_key_id"]?.stringValue
    // The project becomes part of a request path.
    guard TextRule.isWord(projectID, others: "-.:_") else {
      throw CredentialFileError(
        file: file, problem: "has a \"project_id\" with other than letters, digits and - . : _")
    }
    guard Self.isAcceptable(tokenURI: tokenURI) else {
      throw CredentialFileError(
        file: file, problem: "has a \"token_uri\" that is not an https:// URL")
    }
    key = try SigningKey(
      pem: Array(try text("private_key").utf8), file: "\(file) (private_key)", algorithm: .rs256)
  }

  /// A signed assertion must not cross a network in clear; a stand-in on this machine may be plain.
  private static func isAcceptable(tokenURI: String) -> Bool {
    if TextRule.hasControl(tokenURI) { return false }
    if tokenURI.hasPrefix("https://") { return true }
    return ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"].contains {
      tokenURI.hasPrefix($0)
    }
  }
}
