internal import Model

/// A Google service account that the simulated OAuth endpoint knows.
struct ServiceAccount {
  let clientEmail: String
  let projectID: String
  let key: VerificationKey

  /// - Parameter json: the service account's file as Google issues it.
  init(json: [UInt8], name: String) throws(SimulatorError) {
    let object: JSONObject?
    do {
      object = try JSONParser(bytesMax: SimulatorLimits.keyFileBytesMax).parse(json).objectValue
    } catch {
      throw SimulatorError(.configuration, "\(name): \(error.description)")
    }
    guard let email = object?["client_email"]?.stringValue,
      let project = object?["project_id"]?.stringValue,
      let pem = object?["private_key"]?.stringValue
    else {
      throw SimulatorError(
        .configuration,
        "\(name) lacks client_email, project_id or private_key: give a service account's JSON file")
    }
    clientEmail = email
    projectID = project
    key = try VerificationKey(pem: Array(pem.utf8), name: "\(name): private_key")
  }
}
