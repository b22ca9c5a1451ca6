import Foundation
import Model
import PushpoolConfiguration
import Testing

/// Files with one app, for the commands that put it into Redis.
@Suite struct AppFileTests {
  /// Runs the body with a folder of its own that has these files.
  private static func inFolder(
    _ files: [String: Data] = [:], _ body: (String) throws -> Void
  ) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("pushpool-app-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, data) in files { try data.write(to: folder.appendingPathComponent(name)) }
    try body(folder.path)
  }

  private static func complaint(_ text: String, _ name: String = "shop.yaml") -> String {
    do throws(ConfigurationError) {
      _ = try AppFile(text, name: name)
      return "accepted"
    } catch { return error.description }
  }

  @Test("an app is written as in the configuration, and its files are read")
  func files() throws {
    let container = Data([0x30, 0x82, 0xFF, 0x00])
    try Self.inFolder([
      "key.p8": Data("KEY\n".utf8), "shop.p12": container, "word": Data("\u{feff}opens\r\n".utf8),
      "ca.pem": Data("CA".utf8), "shop.json": Data(#"{"type": "service_account"}"#.utf8),
    ]) { folder in
      let app = try AppFile(
        """
        id: shop
        apns:
          production: {key_file: key.p8, key_id: 1234567890, team_id: "0123456789", topic: com.example.shop}
          development:
            certificate_file: \(folder)/shop.p12
            password_file: word
            topic: com.example.shop
            ca_file: ca.pem
        fcm: {service_account_file: shop.json, messages_per_minute: 6000}
        jpush: {app_key: 012345678901234567890123, master_secret_file: word}
        pushes_per_second: 5
        """, name: "\(folder)/shop.yaml")
      #expect(app.id == "shop")
      let form = app.document.form
      #expect(
        form.apns[.production]?.credential == .token(keyID: "1234567890", teamID: "0123456789"))
      #expect(form.apns[.development]?.access.authorities == "CA")
      #expect(form.jpush?.appKey == "012345678901234567890123")
      #expect(form.fcm?.messagesPerMinute == 6_000 && form.rules.pushesPerSecond == 5)
      func given(_ text: String) -> AppDocument.Secret { .given(AppSecret(Array(text.utf8))) }
      #expect(app.document.secrets[.apns(.production, .key)] == given("KEY\n"))
      #expect(
        app.document.secrets[.apns(.development, .certificate)]
          == given(container.base64EncodedString()))
      #expect(app.document.secrets[.apns(.development, .password)] == given("opens"))
      #expect(app.document.secrets[.jpush(.masterSecret)] == given("opens"))
    }
  }

  @Test("JSON, as an app is shown, is read as well")
  func json() throws {
    let app = try AppFile(
      #"{"id": "shop", "revision": "0123456789abcdef", "changed_at": 1790000000000, "changed_by": "ann", "#
        + #""jpush": {"app_key": "abc", "master_secret": {"sha256": "0123456789abcdef", "set_at": 1790000000000}}}"#,
      name: "standard input")
    #expect(app.document.revision == "0123456789abcdef" && app.document.keepsSecrets)
    #expect(
      app.document.secrets[.jpush(.masterSecret)]
        == .kept(AppSecretFacts(digest: "0123456789abcdef", setAtMs: 1_790_000_000_000)))
  }

  @Test(
    "what is wrong is told with its line and the field as it was written",
    arguments: [
      ("", "shop.yaml: must be one app"), ("- id: shop", "shop.yaml: must be one app"),
      ("a: [", "shop.yaml: is neither YAML nor JSON"),
      ("fcm: {}", "shop.yaml:1: id: is missing"), ("id: [a]", "id: must be a name, is an array"),
      ("id: a b", "shop.yaml:1: id: must be 1 to 64 ASCII letters"),
      (
        "id: shop\nfcm:\n  service_account_file: none.json\n",
        "shop.yaml:3: fcm.service_account_file: none.json cannot be read: No such file"
      ),
      (
        "id: shop\nfcm:\n  service_account_file: ''\n",
        "shop.yaml:3: fcm.service_account_file: must be the path of a file"
      ),
      (
        "id: shop\nfcm:\n  service_account_file: '{\"a\": 1}'\n",
        "a secret itself stands under the name without _file"
      ),
      (
        "id: shop\nfcm:\n  service_account: x\n  messages_per_minute: many\n",
        "shop.yaml:4: fcm.messages_per_minute: must be an integer"
      ),
      (
        "id: shop\nfcm:\n  service_account: x\n  service_account_file: /etc/passwd\n",
        "shop.yaml:4: fcm.service_account_file: must not stand beside service_account"
      ),
      (
        "id: shop\njpush:\n  app_key: a\n  master_secret_file: /etc/passwd\n",
        "shop.yaml:4: jpush.master_secret_file: must not hold control characters"
      ),
      ("id: shop\napns:\n  production:\n    topic: a\n", ": apns.production.key: is missing"),
      ("id: shop\nfcm: {service_account: x}\nfoo: 1\n", "shop.yaml:3: foo: is not a known field"),
    ])
  func refusals(text: String, part: String) {
    let complaint = Self.complaint(text)
    #expect(complaint.contains(part), "\(complaint)")
  }

  @Test("a file that stands for far more than it says is refused")
  func bombs() {
    var text = "id: shop\na: &a [x, x, x, x, x, x, x, x]\n"
    for (one, other) in zip("abcdef", "bcdefg") {
      text += "\(other): &\(other) [*\(one), *\(one), *\(one), *\(one), *\(one), *\(one)]\n"
    }
    #expect(Self.complaint(text).contains("has more than 1000 values"))
    let deep =
      "id: shop\na: " + String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    #expect(Self.complaint(deep).contains("in one another"))
    #expect(
      Self.complaint(String(repeating: "x", count: ConfigurationLimits.appDocumentBytesMax + 1))
        .contains("is longer than"))
  }
}
