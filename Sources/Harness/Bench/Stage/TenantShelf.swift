import LocalServices
import Model
import PushpoolConfiguration
import Stage
import Store

/// The apps of a stage that stand in Redis. Each has a signing key and a service account of its own, and is sent by from the
/// population's app of its number.
struct TenantShelf: Sendable {
  /// The section of the worker's configuration that has it take them.
  let section: String
  /// APNs's signing keys of the apps that are sent for. The simulator knows them under the key id of the stage's.
  let signingKeyFiles: [String]
  private let keys: SealingKeys
  private let apnsKey: APNsSigningKey
  private let endpoint: String
  private let authorityFile: String
  private let folder: String
  /// Service accounts to write others like: a key of RSA takes long to make, so that apps by the hundred have one.
  private let accounts: [(project: String, text: String)]

  /// - Parameter signingKeys: how many apps are sent for.
  init(_ stage: Stage, signingKeys: Int) throws {
    let sealingKey = SealingKey.random()
    let file = stage.folder.file("apps.key")
    try PrivateFile.write(sealingKey.fileText, to: file)
    section = "apps_in_redis: {key_files: ['\(file)']}"
    keys = SealingKeys(sealingKey)
    apnsKey = stage.keys.apnsKey
    endpoint = stage.endpoint
    authorityFile = stage.keys.authorityFile
    let folder = stage.folder.path
    self.folder = folder
    signingKeyFiles = try (0..<signingKeys).map { number in
      try APNsSigningKey(folder: folder, keyID: "TENANT\(1_000 + number)").file
    }
    let tokenURI = "\(stage.endpoint)/token"
    accounts = try (0..<BenchLimits.tenantAccounts).map { number in
      let project = "project-of-many-\(1_000 + number)"
      let account = try FCMServiceAccount(folder: folder, projectID: project, tokenURI: tokenURI)
      return (project, try Self.text(of: account.file))
    }
  }

  /// An app that nothing is sent for, at APNs and FCM.
  func record(_ number: Int) throws -> (id: String, value: [UInt8]) {
    let account = accounts[number % accounts.count]
    return try record(
      number,
      [
        "apns": [
          "production": [
            "key": .string(try APNsSigningKey.newText()), "key_id": .string(apnsKey.keyID),
            "team_id": .string(apnsKey.teamID), "topic": .string("com.example.tenant-\(number)"),
          ]
        ],
        "fcm": [
          "service_account": .string(
            account.text.replacing(account.project, with: "project-\(number)"))
        ],
      ])
  }

  /// An app that is sent for, with one of the signing keys.
  func record(
    _ number: Int, signedBy key: Int
  ) throws -> (id: String, value: [UInt8]) {
    try record(
      number,
      [
        "apns": [
          "production": [
            "key": .string(try Self.text(of: signingKeyFiles[key])),
            "key_id": .string(apnsKey.keyID), "team_id": .string(apnsKey.teamID),
            "topic": .string(NetworkKeys.topic), "endpoint": .string(endpoint),
            "ca": .string(try Self.text(of: authorityFile)),
          ]
        ]
      ])
  }

  private func record(
    _ number: Int, _ document: JSONValue
  ) throws -> (id: String, value: [UInt8]) {
    let id = Population.app(number)
    let record = try AppRecord(
      AppDocument(document, id: id), id: id, instead: nil, keys: keys,
      nowMs: EpochClock.nowMs(), by: "bench")
    return (id, try record.value())
  }

  /// The file of an app that is sent for, for `pushpool app add`. - Returns: its path.
  func write(_ number: Int, signedBy key: Int) throws -> String {
    let file = "\(folder)/tenant.yaml"
    try PrivateFile.write(
      """
      id: \(Population.app(number))
      apns:
        production:
          key_file: '\(signingKeyFiles[key])'
          key_id: \(apnsKey.keyID)
          team_id: \(apnsKey.teamID)
          topic: \(NetworkKeys.topic)
          endpoint: \(endpoint)
          ca_file: '\(authorityFile)'

      """, to: file)
    return file
  }

  private static func text(of file: String) throws -> String {
    guard let text = TextFile.read(file, bytesMax: BenchLimits.keyFileBytesMax) else {
      throw BenchError("\(file) cannot be read")
    }
    return text
  }
}
