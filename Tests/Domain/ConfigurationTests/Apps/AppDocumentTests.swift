import Model
import PushpoolConfiguration
import Testing

/// Apps as a command or the HTTP API gives them.
@Suite struct AppDocumentTests {
  /// Every field that there is.
  private static let everything = #"""
    {"id": "shop",
     "apns": {
       "production": {"key": "-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n", "key_id": "ABC123DEFG",
         "team_id": "DEF123GHIJ", "topic": "com.example.shop", "endpoint": "https://relay:8443", "ca": "PEM",
         "proxy": "http://proxy:3128", "proxy_user": "pool", "proxy_password": "opens proxies"},
       "development": {"certificate": "MII", "password": "opens certificates", "topic": "com.example.shop"}},
     "fcm": {"service_account": {"type": "service_account", "private_key": "hidden"},
       "token_endpoint": "https://tokens/path", "messages_per_minute": 60000},
     "jpush": {"app_key": "0123456789abcdef", "master_secret": "hidden too"},
     "pushes_per_second": 500, "events_per_minute": 0, "time_zone": "UTC",
     "jobs": {"retention_hours": 48, "named_retention_hours": 12, "unnamed_retention_minutes": 30}}
    """#

  static func document(_ text: String, id: String = "shop") throws -> AppDocument {
    try AppDocument(try JSONParser().parse(text), id: id)
  }

  /// The complaint about a document.
  private static func complaint(_ text: String) throws -> String {
    let json = try JSONParser().parse(text)
    do throws(InvalidField) {
      _ = try AppDocument(json, id: "shop")
      return "accepted"
    } catch { return "\(error)" }
  }

  @Test("every field is read, and each secret by its name")
  func everything() throws {
    let document = try Self.document(Self.everything)
    let form = document.form
    let production = try #require(form.apns[.production])
    #expect(production.credential == .token(keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
    #expect(production.access.proxyUser == "pool" && production.access.authorities == "PEM")
    #expect(form.apns[.development]?.credential == .certificate)
    #expect(form.fcm?.messagesPerMinute == 60_000)
    #expect(form.jpush?.appKey == "0123456789abcdef")
    #expect(form.rules.pushesPerSecond == 500 && form.rules.eventsPerMinute == 0)
    #expect(form.rules.jobs.namedRetentionHours == 12)
    #expect(
      Set(document.secrets.keys.map(\.text)) == [
        "apns.production.key", "apns.production.proxy_password", "apns.development.certificate",
        "apns.development.password", "fcm.service_account", "jpush.master_secret",
      ])
    #expect(
      document.secrets[.jpush(.masterSecret)] == .given(AppSecret(Array("hidden too".utf8))))
    // An account may be an object, or the text of its file.
    #expect(
      document.secrets[.fcm(.serviceAccount)]
        == .given(
          AppSecret(Array(#"{"type":"service_account","private_key":"hidden"}"#.utf8))))
    #expect(Set(form.requiredSecrets).isSubset(of: document.secrets.keys))
    #expect(form.requiredSecrets.count == 5)
  }

  @Test("the form that is written has no secret, and is read as it was")
  func form() throws {
    let document = try Self.document(Self.everything)
    let json = document.form.json()
    let text = JSONValue.object(json).text()
    for secret in ["PRIVATE KEY", "opens", "hidden", "MII"] { #expect(!text.contains(secret)) }
    #expect(try AppForm(.object(json)) == document.form)
    #expect(JSONValue.object(try AppForm(.object(json)).json()).text() == text)
  }

  @Test("a secret that was shown stays, and what was shown can be given again")
  func kept() throws {
    let document = try Self.document(Self.everything)
    let facts = AppSecretFacts(digest: "0123456789abcdef", setAtMs: 1_790_000_000_000)
    let shown = document.form.json { name in
      document.secrets[name] == nil ? nil : facts.json
    }
    let again = try AppDocument(.object(shown), id: "shop")
    #expect(again.form == document.form)
    #expect(again.secrets == document.secrets.mapValues { _ in .kept(facts) })
  }

  @Test("no description shows a secret")
  func hidden() throws {
    let document = try Self.document(Self.everything)
    var dumped = ""
    dump(document, to: &dumped)
    for text in ["\(document)", String(reflecting: document), dumped] {
      for secret in ["PRIVATE KEY", "opens", "hidden"] { #expect(!text.contains(secret)) }
    }
  }

  @Test(
    "what breaks a rule is refused with its place and what to do",
    arguments: [
      ("{}", "has no apns, fcm or jpush: it could send nothing"),
      (#"{"fcm": {}}"#, "/fcm/service_account: is missing: the JSON key"),
      (#"{"fcm": {"service_acount": "x"}}"#, "did you mean \"service_account\"?"),
      (
        #"{"fcm": {"service_account_file": "x.json"}}"#,
        "/fcm/service_account_file: is not a known field"
      ),
      (#"{"id": "news", "fcm": {"service_account": "x"}}"#, "/id: names another app than shop"),
      (#"{"id": 5, "fcm": {"service_account": "x"}}"#, "/id: names another app"),
      (#"{"fcm": {"service_account": ""}}"#, "must have 1 to 16384 bytes, has 0"),
      (#"{"fcm": {"service_account": null}}"#, "must be the secret as a string"),
      (
        #"{"fcm": {"service_account": "x", "messages_per_minute": 0}}"#,
        "/fcm/messages_per_minute: must not be 0: nothing would ever be sent"
      ),
      (
        #"{"jpush": {"app_key": "a", "master_secret": "x\n"}}"#,
        "/jpush/master_secret: must not hold control characters"
      ),
      (
        #"{"jpush": {"app_key": "a b", "master_secret": "x"}}"#, "must be 1 to 64 letters or digits"
      ),
      (
        #"{"jpush": {"app_key": "a", "master_secret": {"sha256": "0123456789abcdeF", "set_at": 1}}}"#,
        "/jpush/master_secret/sha256: must be 16 hexadecimal digits"
      ),
      (
        #"{"jpush": {"app_key": "a", "master_secret": {"sha256": "0123456789abcdef"}}}"#,
        "/jpush/master_secret/set_at: must be epoch milliseconds"
      ),
      (
        #"{"jpush": {"app_key": "a", "master_secret": "x", "proxy_user": "u"}}"#,
        "/jpush/proxy_user: must stand beside a proxy"
      ),
      (
        #"{"jpush": {"app_key": "a", "master_secret": "x", "proxy": "http://p", "proxy_user": "u"}}"#,
        "/jpush/proxy_password: is missing"
      ),
      (
        #"{"jpush": {"app_key": "a", "master_secret": "x", "proxy_password": "p"}}"#,
        "/jpush/proxy_user: is missing"
      ),
      (
        #"{"apns": {"production": {"topic": "t"}}}"#,
        "/apns/production/key: is missing: give key, key_id and team_id, or a certificate"
      ),
      (
        #"{"apns": {"production": {"key": "k", "key_id": "short", "team_id": "DEF123GHIJ", "topic": "t"}}}"#,
        "/apns/production/key_id: must be 10 letters or digits, is 5"
      ),
      (
        #"{"apns": {"production": {"key": "k", "certificate": "c", "topic": "t"}}}"#,
        "/apns/production/certificate: must not stand beside a key"
      ),
      (
        #"{"apns": {"production": {"certificate": "c", "key_id": "ABC123DEFG", "topic": "t"}}}"#,
        "/apns/production/key_id: belongs to a key"
      ),
      (
        #"{"apns": {"production": {"key": "k", "password": "p", "key_id": "ABC123DEFG", "team_id": "DEF123GHIJ", "topic": "t"}}}"#,
        "/apns/production/password: belongs to a certificate"
      ),
      (
        #"{"apns": {"production": {"certificate": "c", "topic": "a b"}}}"#,
        "/apns/production/topic: must be a bundle id"
      ),
      (
        #"{"apns": {"staging": {}}}"#, "/apns/staging: is not a known field"
      ),
      (
        #"{"fcm": {"service_account": "x", "proxy": "http://p", "proxy_user": "u"}}"#,
        "/fcm/proxy_password: is missing: the password of proxy_user"
      ),
      (
        #"{"fcm": {"service_account": "x"}, "time_zone": "Mars/Base"}"#,
        "/time_zone: \"Mars/Base\" is no time zone"
      ),
      (
        #"{"fcm": {"service_account": "x"}, "jobs": {"retention_hours": 0}}"#,
        "/jobs/retention_hours: must not be 0"
      ),
      (
        #"{"fcm": {"service_account": "x", "endpoint": "http://plain"}}"#,
        "/fcm/endpoint: must begin with https://"
      ),
    ])
  func refusals(text: String, part: String) throws {
    let complaint = try Self.complaint(text)
    #expect(complaint.contains(part), "\(complaint)")
  }

  @Test("an app whose name no path can have is refused", arguments: [".", ".."])
  func paths(id: String) {
    let error = #expect(throws: InvalidField.self) {
      try Self.document(Self.everything.replacing(#""id": "shop","#, with: ""), id: id)
    }
    #expect(error?.pointer == "/id" && error?.message.hasPrefix("must not be . or ..") == true)
    #expect(throws: Never.self) {
      try Self.document(Self.everything.replacing(#""id": "shop","#, with: ""), id: "...")
    }
  }

  @Test("a secret that is too long is refused, and not repeated")
  func long() throws {
    let secret = String(repeating: "x", count: ConfigurationLimits.appSecretBytesMax + 1)
    let complaint = try Self.complaint(#"{"fcm": {"service_account": "\#(secret)"}}"#)
    #expect(
      complaint.contains("/fcm/service_account: must have 1 to") && complaint.utf8.count < 200)
    let object = try Self.complaint(#"{"fcm": {"service_account": {"key": "\#(secret)"}}}"#)
    #expect(
      object.contains("/fcm/service_account: must have at most 16384 bytes, has 16395")
        && object.utf8.count < 200, "\(object)")
  }

  @Test("certificates that are too many are refused, and not repeated")
  func longAuthorities() throws {
    for count in [0, ConfigurationLimits.appAuthoritiesBytesMax + 1] {
      let ca = String(repeating: "x", count: count)
      let complaint = try Self.complaint(
        #"{"fcm": {"service_account": "x", "ca": "\#(ca)"}}"#)
      #expect(
        complaint.contains("/fcm/ca: must be certificates in PEM, of 1 to")
          && complaint.hasSuffix("bytes, is \(count)"), "\(complaint)")
    }
  }

  @Test("the names of secrets are read as they are written, and no others")
  func names() {
    for name in AppSecretName.all { #expect(AppSecretName(name.text) == name) }
    #expect(Set(AppSecretName.all.map(\.text)).count == 12)
    for text in ["", "apns.production", "apns.production.topic", "fcm.key", "FCM.service_account"] {
      #expect(AppSecretName(text) == nil)
    }
    #expect(AppSecretName.apns(.production, .key).pointer == "/apns/production/key")
  }

  @Test("rules that an app does not have are those of all apps")
  func retention() throws {
    let all = JobsConfiguration(retentionHours: 100)
    var own = AppRules.Jobs()
    #expect(own.over(all) == nil)
    own.namedRetentionHours = 5
    #expect(own.over(all) == JobsConfiguration(retentionHours: 100, namedRetentionHours: 5))
  }
}
