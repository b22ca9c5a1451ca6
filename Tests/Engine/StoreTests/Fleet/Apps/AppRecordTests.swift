import Model
import PushpoolConfiguration
import Testing

@testable import Store

/// Apps as Redis keeps them.
@Suite struct AppRecordTests {
  private static let keys = SealingKeys(.random())

  /// An app with a key and a password at two networks.
  static func document(topic: String = "com.example.shop") throws -> AppDocument {
    try AppDocument(
      try JSONParser().parse(
        """
        {"apns": {"production": {"certificate": "cert-hidden", "password": "word-hidden", "topic": "\(topic)"}},
         "jpush": {"app_key": "abc", "master_secret": "master-hidden"}, "pushes_per_second": 5}
        """), id: "shop")
  }

  static func record(
    _ document: AppDocument? = nil, id: String = "shop", instead existing: AppRecord? = nil,
    keys: SealingKeys = Self.keys, nowMs: Int64 = 1_790_000_000_000
  ) throws -> AppRecord {
    try AppRecord(
      document ?? Self.document(), id: id, instead: existing, keys: keys, nowMs: nowMs,
      by: "ann@push-1")
  }

  /// The record with a member of its JSON changed.
  private static func changed(
    _ record: AppRecord, id: String = "shop", _ change: (inout JSONObject) -> Void
  ) throws -> AppRecord {
    var object = try #require(try JSONParser().parse(try record.value()).objectValue)
    change(&object)
    return try AppRecord(id: id, value: JSONValue.object(object).bytes())
  }

  @Test("a record is read as it was written, opens, and shows no secret")
  func roundTrip() throws {
    let record = try Self.record()
    let value = try record.value()
    let text = String(decoding: value, as: UTF8.self)
    #expect(!text.contains("hidden"))
    let found = try AppRecord(id: "shop", value: value)
    #expect(found == record)
    let opened = try found.open(Self.keys)
    #expect(
      opened == [
        .apns(.production, .certificate): AppSecret(Array("cert-hidden".utf8)),
        .apns(.production, .password): AppSecret(Array("word-hidden".utf8)),
        .jpush(.masterSecret): AppSecret(Array("master-hidden".utf8)),
      ])
    #expect(found.changedBy == "ann@push-1" && found.changedAtMs == 1_790_000_000_000)
  }

  @Test("a secret is told by a digest and a date, and a password by its date alone")
  func facts() throws {
    let record = try Self.record()
    // printf master-hidden | sha256sum
    #expect(
      record.secrets[.jpush(.masterSecret)]?.facts
        == AppSecretFacts(
          digest: String(ContentDigest.sha256("master-hidden").prefix(16)),
          setAtMs: 1_790_000_000_000))
    #expect(
      record.secrets[.apns(.production, .password)]?.facts
        == AppSecretFacts(digest: nil, setAtMs: 1_790_000_000_000))
  }

  @Test("what is changed in Redis, or taken from another app or field, does not open")
  func tamper() throws {
    let record = try Self.record()
    let other = try Self.record(id: "news")
    func secrets(_ object: inout JSONObject, _ change: (inout JSONObject) -> Void) {
      var secrets = object["secrets"]?.objectValue ?? [:]
      change(&secrets)
      object["secrets"] = .object(secrets)
    }
    let cases: [AppRecord] = [
      // Another app's record under this app's name.
      try AppRecord(id: "shop", value: other.value()),
      // A secret of another app.
      try Self.changed(record) { object in
        secrets(&object) {
          $0["jpush.master_secret"] = other.secrets[.jpush(.masterSecret)]?.json
        }
      },
      // A secret in another field's place.
      try Self.changed(record) { object in
        secrets(&object) { $0["apns.production.password"] = $0["jpush.master_secret"] }
      },
      // Another topic, so that the secret would be used for something else.
      try Self.changed(record) { object in
        object["form"] = .object(try! Self.document(topic: "com.example.evil").form.json())
      },
      // Another endpoint, where it would be sent to.
      try Self.changed(record) { object in
        var form = object["form"]?.objectValue ?? [:]
        var jpush = form["jpush"]?.objectValue ?? [:]
        jpush["endpoint"] = .string("https://evil.example")
        form["jpush"] = .object(jpush)
        object["form"] = .object(form)
      },
    ]
    for record in cases {
      let fault = #expect(throws: AppRecordFault.self) { try record.open(Self.keys) }
      #expect(fault?.message.contains("the record is not as it was written") == true)
    }
    // What it says beside that is no matter of the secrets.
    let renamed = try Self.changed(record) { $0["changed_by"] = .string("nobody") }
    #expect(try renamed.open(Self.keys).count == 3)
  }

  @Test(
    "what names a revision, a key or a digest is hexadecimal digits in lower case",
    arguments: [
      "0123456789ABCDEF", "0123456789abcde", "0123456789abcdeff", "\u{1B}[31m0123456789a",
    ])
  func names(text: String) throws {
    let record = try Self.record()
    let fault = #expect(throws: AppRecordFault.self) {
      try Self.changed(record) { $0["revision"] = .string(text) }
    }
    #expect(fault?.message == "the record is not one that pushpool has written")
    for member in ["key_id", "sha256"] {
      let error = #expect(throws: AppRecordFault.self) {
        try Self.changed(record) { object in
          var secrets = object["secrets"]?.objectValue ?? [:]
          var secret = secrets["jpush.master_secret"]?.objectValue ?? [:]
          secret[member] = .string(text)
          secrets["jpush.master_secret"] = .object(secret)
          object["secrets"] = .object(secrets)
        }
      }
      #expect(error?.message.contains("that pushpool has not written") == true)
    }
  }

  @Test("a record without a secret that its app needs does not open, and says which")
  func missing() throws {
    let record = try Self.changed(try Self.record()) { object in
      var secrets = object["secrets"]?.objectValue ?? [:]
      secrets["jpush.master_secret"] = nil
      object["secrets"] = .object(secrets)
    }
    let fault = #expect(throws: AppRecordFault.self) { try record.open(Self.keys) }
    #expect(fault?.pointer == "/jpush/master_secret")
    let bare = try Self.changed(record) { $0["secrets"] = .object([:]) }
    #expect(throws: AppRecordFault.self) { try bare.open(Self.keys) }
  }

  @Test(
    "a value that is no record says what it is",
    arguments: [
      ("", "is empty"), ("no JSON", "not valid JSON"), ("[]", "is an array and not an object"),
      ("{}", "has no version"),
      (#"{"version": 2}"#, "of version 2, which only newer programs read"),
      (#"{"version": 1}"#, "not one that pushpool has written"),
      (
        #"{"version": 1, "revision": "0123456789abcdef", "form": {}, "secrets": {}}"#,
        "has no apns, fcm or jpush"
      ),
      (
        #"{"version": 1, "revision": "0123456789abcdef", "form": {"fcm": {"new_field": 1}}, "secrets": {}}"#,
        "/fcm/new_field: is not a known field"
      ),
      (
        #"{"version": 1, "revision": "0123456789abcdef", "form": {"fcm": {}}, "secrets": {"fcm.service_account": {}}}"#,
        "has a secret \"fcm.service_account\" that pushpool has not"
      ),
      (
        #"{"version": 1, "revision": "0123456789abcdef", "form": {"fcm": {}}, "secrets": {"fcm.topic": {}}}"#,
        "has a secret \"fcm.topic\" that pushpool has not"
      ),
    ])
  func strangers(value: String, part: String) {
    let fault = #expect(throws: AppRecordFault.self) {
      try AppRecord(id: "shop", value: Array(value.utf8))
    }
    #expect(fault?.description.contains(part) == true, "\(String(describing: fault))")
  }

  @Test(
    "a secret that is shown stays when the app is set anew, and one that has changed since does not"
  )
  func kept() throws {
    let record = try Self.record()
    let shown = record.form.json { record.secrets[$0]?.facts.json }
    var again = shown
    again["pushes_per_second"] = .integer(7)
    let document = try AppDocument(.object(again), id: "shop")
    let next = try Self.record(document, instead: record, nowMs: 1_800_000_000_000)
    #expect(try next.open(Self.keys) == record.open(Self.keys))
    #expect(next.form.rules.pushesPerSecond == 7 && next.revision != record.revision)
    #expect(next.secrets.mapValues(\.facts) == record.secrets.mapValues(\.facts))
    // Another one was set in between.
    let replaced = try Self.record(nowMs: 1_795_000_000_000)
    for existing in [replaced, nil] {
      let error = #expect(throws: InvalidField.self) {
        try Self.record(document, instead: existing)
      }
      #expect(error?.message.hasPrefix("is to stay as it was shown, and") == true)
    }
    // Nobody has the key that sealed it.
    let stranger = try Self.record(keys: SealingKeys(.random()))
    let error = #expect(throws: InvalidField.self) {
      try Self.record(document, instead: stranger)
    }
    #expect(error?.message.contains("is sealed with the key") == true)
  }

  /// An app at all networks, with a proxy's login at JPush.
  private static let everywhere: JSONValue = [
    "apns": [
      "production": [
        "key": .string("key-hidden"), "key_id": .string("ABC123DEFG"),
        "team_id": .string("DEF123GHIJ"), "topic": .string("com.example.shop"),
      ],
      "development": [
        "certificate": .string("cert-hidden"), "password": .string("word-hidden"),
        "topic": .string("com.example.shop"),
      ],
    ], "fcm": ["service_account": .string("account-hidden")],
    "jpush": [
      "app_key": .string("abc"), "master_secret": .string("master-hidden"),
      "proxy": .string("http://proxy.example"), "proxy_user": .string("pool"),
      "proxy_password": .string("proxy-hidden"),
    ],
  ]

  @Test(
    "a secret that stays goes where it went: whoever has it sent elsewhere gives it anew",
    arguments: [
      (["apns", "production"], "endpoint", "https://evil.example", ["key"]),
      (["apns", "production"], "ca", "PEM", ["key"]),
      (["apns", "production"], "proxy", "socks5h://evil.example", ["key"]),
      (["apns", "development"], "endpoint", "https://evil.example", ["certificate", "password"]),
      (["fcm"], "endpoint", "https://evil.example", ["service_account"]),
      (["fcm"], "ca", "PEM", ["service_account"]),
      (["fcm"], "proxy", "http://evil.example", ["service_account"]),
      (["fcm"], "token_endpoint", "https://evil.example/token", ["service_account"]),
      (["jpush"], "endpoint", "https://evil.example", ["master_secret", "proxy_password"]),
      (["jpush"], "ca", "PEM", ["master_secret", "proxy_password"]),
      (["jpush"], "proxy", "http://evil.example", ["master_secret", "proxy_password"]),
      (["jpush"], "proxy_user", "eve", ["master_secret", "proxy_password"]),
    ])
  func elsewhere(section: [String], field: String, value: String, secrets: [String]) throws {
    let before = try Self.record(AppDocument(Self.everywhere, id: "shop"))
    let count = try before.open(Self.keys).count
    let shown = before.form.json { before.secrets[$0]?.facts.json }
    func changed(_ members: [String: String]) throws -> AppDocument {
      var object = shown
      Self.set([field: value].merging(members) { $1 }, in: section[...], of: &object)
      return try AppDocument(.object(object), id: "shop")
    }
    let asShown = try changed([:])
    let error = #expect(throws: InvalidField.self) {
      try Self.record(asShown, instead: before)
    }
    #expect(
      secrets.map { "/\((section + [$0]).joined(separator: "/"))" }.contains(error?.pointer))
    #expect(error?.message.contains("would be sent elsewhere") == true)
    // One of the section's secrets is not enough.
    for secret in secrets.dropFirst() {
      let document = try changed([secret: "another"])
      #expect(throws: InvalidField.self) { try Self.record(document, instead: before) }
    }
    // The other sections' secrets stay as they are.
    let whole = try changed(
      Dictionary(secrets.map { ($0, "another") }, uniquingKeysWith: { $1 }))
    let opened = try Self.record(whole, instead: before).open(Self.keys)
    #expect(opened.count == count)
    #expect(opened.values.count { $0 == AppSecret(Array("another".utf8)) } == secrets.count)
  }

  /// Sets members of a section of an app.
  private static func set(
    _ members: [String: String], in section: ArraySlice<String>, of object: inout JSONObject
  ) {
    guard let name = section.first else {
      for (name, text) in members { object[name] = .string(text) }
      return
    }
    var inner = object[name]?.objectValue ?? [:]
    set(members, in: section.dropFirst(), of: &inner)
    object[name] = .object(inner)
  }

  @Test("a record is sealed anew with the newest key, and nothing else changes")
  func reseal() throws {
    let record = try Self.record()
    let newest = SealingKey.random()
    let both = SealingKeys(newest, Self.keys.all)
    #expect(record.isSealed(with: Self.keys) && !record.isSealed(with: both))
    let resealed = try record.resealed(both)
    #expect(resealed.isSealed(with: both) && resealed.revision != record.revision)
    #expect(resealed.changedAtMs == record.changedAtMs && resealed.form == record.form)
    #expect(resealed.secrets.mapValues(\.facts) == record.secrets.mapValues(\.facts))
    #expect(try resealed.open(SealingKeys(newest)) == record.open(Self.keys))
    #expect(throws: AppRecordFault.self) { try resealed.open(Self.keys) }
    #expect(throws: AppRecordFault.self) { try record.resealed(SealingKeys(newest)) }
  }

  @Test("a record that is too long is refused")
  func long() throws {
    var form = try Self.document().form
    form.jpush?.access.authorities = String(repeating: "\u{1F}", count: 32 * 1024)
    let document = AppDocument(form: form, secrets: [:])
    let record = try Self.record(document)
    let error = #expect(throws: InvalidField.self) { try record.value() }
    #expect(error?.message.contains("makes a record of") == true)
  }
}
