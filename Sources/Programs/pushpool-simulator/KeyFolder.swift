import Glibc
import LocalServices
import Simulator

/// A folder with all that a simulator and its workers need to trust each other.
struct KeyFolder {
  static let projectID = "demo-shop"
  static let topic = "com.example.shop"

  let path: String
  let apnsKey: KnownAPNsKey
  let certificateFile: String
  let keyFile: String
  let authorityFile: String
  let serviceAccountFile: String
  let configurationFile: String

  /// Makes the folder's files anew; those of the same names are replaced.
  init(path: String, port: UInt16) throws(LocalServiceError) {
    if mkdir(path, 0o700) != 0 && errno != EEXIST {
      throw LocalServiceError("cannot make the folder \(path): \(String(cString: strerror(errno)))")
    }
    self.path = path
    let authority = try CertificateAuthority(folder: path)
    let certificate = try authority.issueServer()
    certificateFile = certificate.certificateFile
    keyFile = certificate.keyFile
    authorityFile = authority.certificateFile
    let signing = try APNsSigningKey(folder: path)
    apnsKey = KnownAPNsKey(keyID: signing.keyID, teamID: signing.teamID, file: signing.file)
    let account = try FCMServiceAccount(
      folder: path, projectID: Self.projectID, tokenURI: "https://localhost:\(port)/token")
    serviceAccountFile = account.file
    configurationFile = "\(path)/pushpool.yaml"
    try writeConfiguration(port: port)
  }

  private func writeConfiguration(port: UInt16) throws(LocalServiceError) {
    let access = "endpoint: https://localhost:\(port), ca_file: \(quoted(absolute(authorityFile)))"
    let text = """
      # Points workers at a pushpool-simulator on port \(port) of this machine.
      redis: {url: redis://127.0.0.1:6379/0}
      apps:
        - id: shop
          apns:
            production: {key_file: \(quoted(absolute(apnsKey.file))), key_id: \(apnsKey.keyID), \
      team_id: \(apnsKey.teamID), topic: \(Self.topic), \(access)}
          fcm: {service_account_file: \(quoted(absolute(serviceAccountFile))), \(access)}

      """
    guard let file = fopen(configurationFile, "w") else {
      throw LocalServiceError(
        "cannot write \(configurationFile): \(String(cString: strerror(errno)))")
    }
    fputs(text, file)
    fclose(file)
  }

  private func absolute(_ file: String) -> String {
    guard let resolved = realpath(file, nil) else { return file }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// A YAML scalar in single quotes.
  private func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}
