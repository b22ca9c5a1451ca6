/// A service account file as the Firebase console hands it out, with an RSA 2048 key of its own.
package struct FCMServiceAccount: Sendable {
  package let file: String
  package let projectID: String
  package let clientEmail: String
  package let privateKeyID: String
  /// The public key that verifies the assertions signed with it, PEM.
  package let publicKeyPEM: String

  private static let usualName = "pushpool"

  /// Makes a key and writes the account into `<project id>.json`, or with another name than the usual one into
  /// `<project id>-<name>.json`.
  /// - Parameters:
  ///   - name: of the account, which tells those of a project apart.
  ///   - tokenURI: where access tokens are fetched: a simulator's address.
  package init(
    folder: String, projectID: String = "demo-shop", name: String? = nil, tokenURI: String
  ) throws(LocalServiceError) {
    let key = try PrivateKey.rsa()
    file = "\(folder)/\(projectID)\(name.map { "-\($0)" } ?? "").json"
    self.projectID = projectID
    clientEmail = "\(name ?? Self.usualName)@\(projectID).iam.gserviceaccount.com"
    privateKeyID = String(UInt64.random(in: .min ... .max), radix: 16)
    publicKeyPEM = try key.publicPEM()
    let members = [
      ("type", "service_account"), ("project_id", projectID), ("private_key_id", privateKeyID),
      ("private_key", try key.privatePEM()), ("client_email", clientEmail),
      ("client_id", "100000000000000000000"), ("token_uri", tokenURI),
    ]
    let lines = members.map { "  \(quoted($0.0)): \(quoted($0.1))" }
    try PrivateFile.write("{\n\(lines.joined(separator: ",\n"))\n}\n", to: file)
  }
}

/// A JSON string (RFC 8259 section 7).
private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": result += "\\\(scalar)"
    case "\n": result += "\\n"
    case "\0"..."\u{1f}":
      let digits = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
