import Glibc
import LocalServices
import Store

/// The configuration that the workers of a stage share: where it lies, what it says at first, and the keys that it names.
struct SharedConfiguration: Sendable {
  let file: String
  let text: ConfigurationText
  let keys: NetworkKeys

  /// The name of the second signing key's file. The networks know the key under the first one's id.
  private static let secondName = "SECOND0KEY"
  private static let sealingKeyName = "apps.key"

  /// Makes a second signing key. - Returns: its file.
  static func makeSecondKey(_ folder: String) throws(LocalServiceError) -> String {
    try APNsSigningKey(folder: folder, keyID: secondName).file
  }

  /// Makes a second account of the same Firebase project. - Returns: its file.
  static func makeSecondAccount(
    _ folder: String, port: UInt16
  ) throws(LocalServiceError) -> String {
    try FCMServiceAccount(
      folder: folder, name: secondName.lowercased(), tokenURI: "https://localhost:\(port)/token"
    ).file
  }

  /// Makes the key that the secrets of apps in Redis are sealed with. - Returns: its file.
  static func makeSealingKey(_ folder: String) throws(LocalServiceError) -> String {
    let file = "\(folder)/\(sealingKeyName)"
    try PrivateFile.write(SealingKey.random().fileText, to: file)
    return file
  }

  private var folder: Substring { file[..<(file.lastIndex(of: "/") ?? file.endIndex)] }

  /// The path of a file beside it.
  func neighbour(_ name: String) -> String { "\(folder)/\(name)" }

  var secondKeyFile: String { neighbour("AuthKey_\(Self.secondName).p8") }

  var secondAccountFile: String {
    neighbour("\(keys.serviceAccount.projectID)-\(Self.secondName.lowercased()).json")
  }

  var sealingKeyFile: String { neighbour(Self.sealingKeyName) }

  /// Replaces a file in one step, as docs/guides/operating.md asks of operators.
  static func replace(_ file: String, by text: String) throws {
    let next = "\(file).next"
    try PrivateFile.write(text, to: next)
    guard rename(next, file) == 0 else {
      throw ChaosError("\(next) cannot be renamed: \(String(cString: strerror(errno)))")
    }
  }
}
