import Model
import Testing

@testable import CommandLineInterface

/// Tokens of APNs as older versions of iOS describe them.
@Suite struct ImportedTokenTests {
  private static let described =
    "<740f4707 bebcf74f 9b7c25d4 8e335894 5f6aa01d a5ddb387 462c7eaf 61bb78AD>"
  private static let digits = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

  private func line(_ text: String) throws -> Installation? {
    let line = try Array(text.utf8).withUnsafeBufferPointer { bytes throws(InvalidField) in
      try ImportLine(bytes: bytes)
    }
    guard case .installation(let installation) = line else { return nil }
    return installation
  }

  @Test("an import reads the token that a description between angle brackets means")
  func line() throws {
    let installation = try line(
      #"{"app": "shop", "user": "u1", "network": "apns", "token": "\#(Self.described)"}"#)
    #expect(installation?.token.text == Self.digits)
    #expect(DeviceToken.digits(described: Self.digits) == nil)
  }

  @Test("an export of another service is read likewise")
  func export() throws {
    let object = try #require(
      try JSONParser().parse(
        #"{"deviceType": "ios", "deviceToken": "\#(Self.described)", "user": "ann"}"#
      ).objectValue)
    let mapping = ForeignMapping(
      fields: .parse, app: "shop", userField: "user", environment: .production)
    #expect(try mapping.installation(of: object).installation.token.text == Self.digits)
  }

  @Test(
    "what stands between the brackets is held to the rules of a token, and only APNs has the form",
    arguments: [
      ("apns", "<740f4707 none>", "hexadecimal digits only"),
      ("apns", "<740f4707 beb>", "even number"), ("apns", "<>", "8 to 400 characters, is 0"),
      ("apns", "<", "8 to 400 characters, is 1"),
      ("fcm", "<740f4707 bebcf74f>", "letters, digits and"),
    ])
  func refuses(network: String, token: String, reason: String) {
    let error = #expect(throws: InvalidField.self) {
      try line(
        #"{"app": "shop", "user": "u1", "network": "\#(network)", "token": "\#(token)"}"#)
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("740f4707") == false)
  }
}
