import Foundation
import HTTPClient
import LocalServices
import Model
import PushpoolConfiguration
import Reactor
import TestSupport
import Testing

@testable import Providers

/// Apps of Redis beside those of a configuration file.
@Suite struct RedisAppsTests {
  private let folder: TemporaryFolder
  private let key: APNsSigningKey
  private let account: FCMServiceAccount
  private let client = HTTPClient()

  init() throws {
    folder = try TemporaryFolder()
    key = try APNsSigningKey(folder: folder.path)
    account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
  }

  private func text(_ file: String) throws -> AppSecret {
    AppSecret(Array(try Data(contentsOf: URL(fileURLWithPath: file))))
  }

  /// An app at APNs and FCM, as its record in Redis has it.
  private func material(
    _ id: String, key other: String? = nil, account otherAccount: String? = nil,
    messagesPerMinute: Int? = nil,
    _ change: (inout AppForm) -> Void = { _ in }
  ) throws -> RedisAppsChange.Finding {
    var form = AppForm()
    form.apns[.production] = AppForm.APNs(
      credential: .token(keyID: key.keyID, teamID: key.teamID), topic: "com.example.\(id)",
      access: AppForm.Access())
    form.fcm = AppForm.FCM(
      messagesPerMinute: messagesPerMinute ?? ConfigurationLimits.fcmMessagesPerMinuteUsual,
      access: AppForm.Access())
    change(&form)
    let secrets = [
      AppSecretName.apns(.production, .key): try text(other ?? key.file),
      AppSecretName.fcm(.serviceAccount): try text(otherAccount ?? account.file),
    ]
    return .material(AppMaterial(id: id, form, secrets: secrets), form.rules, sealedBy: ["k1"])
  }

  private func configuration(_ apps: String...) -> Configuration {
    Configuration(
      apps: apps.map {
        AppConfiguration(
          id: $0,
          networks: AppNetworks(apns: [
            .production: APNsConfiguration(
              credential: .token(keyFile: key.file, keyID: key.keyID, teamID: key.teamID),
              topic: "com.example.\($0)")
          ]))
      })
  }

  /// The apps with a change of some of Redis.
  /// - Parameter all: whether no others are left.
  private func changed(
    _ before: ConfiguredApps, _ configuration: Configuration, all: Bool = false,
    _ findings: [(String, RedisAppsChange.Finding)]
  ) throws -> ConfiguredApps {
    var change = RedisAppsChange(
      of: before, configuration, ids: all ? nil : Set(findings.map(\.0)), client: client)
    for (id, finding) in findings { change.take(id, finding) }
    return try change.apps()
  }

  @Test("apps of Redis come and go beside those of the file, and what stays keeps its numbers")
  func comeAndGo() throws {
    let file = configuration("shop")
    var apps = try ConfiguredApps(file, client: client)
    let shop = apps.directory.numbers(app: "shop")
    apps = try changed(
      apps, file, [("news", try material("news")), ("mail", try material("mail"))])
    #expect(Set(apps.redis.usable.keys) == ["news", "mail"])
    #expect(apps.directory.numbers(app: "shop") == shop)
    let (news, mail) = (
      apps.directory.numbers(app: "news"), apps.directory.numbers(app: "mail")
    )
    #expect(news.count == 2 && mail.count == 2 && news != mail)
    // One with another topic is another entry; its FCM is the same.
    apps = try changed(
      apps, file, [("news", try material("news") { $0.apns[.production]?.topic = "com.other" })])
    let other = apps.directory.numbers(app: "news")
    #expect(other != news && !Set(other).isDisjoint(with: news))
    #expect(apps.directory.numbers(app: "mail") == mail)
    // Gone: nothing of it is left, and the sources that others use stay.
    apps = try changed(apps, file, [("news", .gone)])
    #expect(apps.directory.numbers(app: "news").isEmpty && apps.redis.usable["news"] == nil)
    #expect(apps.directory.numbers(app: "mail") == mail)
    #expect(apps.directory.sources.tokenSources.count == 2)
    apps = try changed(apps, file, all: true, [])
    #expect(apps.redis.ids.isEmpty)
    #expect(apps.directory.numbers(app: "shop") == shop)
    #expect(apps.directory.sources.shared.count == 1)
  }

  @Test("a key that nobody uses any more is let go of")
  func dropsSources() throws {
    let file = configuration()
    let other = try APNsSigningKey(folder: folder.path, keyID: "OTHER12345")
    var apps = try ConfiguredApps(file, client: client)
    apps = try changed(apps, file, [("news", try material("news"))])
    for _ in 0..<3 {
      apps = try changed(apps, file, [("news", try material("news", key: other.file))])
      apps = try changed(apps, file, [("news", try material("news"))])
    }
    // The key's tokens, the account and its tokens.
    #expect(apps.directory.sources.shared.count == 3 && apps.directory.entries.count == 2)
  }

  @Test("an app that cannot be used is left out alone, with the place of the fault")
  func leavesOut() throws {
    let file = configuration("shop")
    var apps = try ConfiguredApps(file, client: client)
    apps = try changed(
      apps, file,
      [
        ("bad", try material("bad", key: account.file)),
        ("junk", .fault(part: "", message: "the record is no JSON")),
        ("news", try material("news")),
      ])
    #expect(Set(apps.redis.leftOut.keys) == ["bad", "junk"])
    #expect(apps.allLeftOut.map(\.id) == ["bad", "junk"] && apps.leftOut.isEmpty)
    let sentence = try #require(apps.redis.leftOut["bad"]?.sentence)
    #expect(
      sentence.hasPrefix(
        "bad is left out, and its jobs wait: its record in Redis: apns.production.key: the value "),
      "\(sentence)")
    #expect(apps.directory.numbers(app: "bad").isEmpty)
    #expect(apps.directory.numbers(app: "news").count == 2)
    // Mended.
    apps = try changed(apps, file, [("bad", try material("bad"))])
    #expect(Set(apps.redis.leftOut.keys) == ["junk"])
    #expect(apps.directory.numbers(app: "bad").count == 2)
    // With other keys each is to be read again.
    apps = try apps.readingLeftOutAgain()
    #expect(apps.redis.unread == ["junk"] && apps.redis.leftOut.isEmpty)
  }

  @Test("an app of the file goes before one of Redis of its name, whichever came first")
  func conflicts() throws {
    var file = configuration("shop")
    var apps = try ConfiguredApps(file, client: client)
    let shop = apps.directory.numbers(app: "shop")
    apps = try changed(
      apps, file, [("shop", try material("shop")), ("news", try material("news"))])
    #expect(apps.redis.displaced == ["shop"] && apps.directory.numbers(app: "shop") == shop)
    // The file comes to name the other one, too.
    file = configuration("shop", "news")
    apps = try ConfiguredApps(file, client: client, after: apps)
    #expect(apps.redis.displaced == ["shop", "news"] && apps.redis.usable.isEmpty)
    #expect(apps.directory.numbers(app: "news").count == 1)
    // And names it no more: it is to be read.
    file = configuration("shop")
    apps = try ConfiguredApps(file, client: client, after: apps)
    #expect(apps.redis.displaced == ["shop"] && apps.redis.unread == ["news"])
    #expect(apps.directory.numbers(app: "news").isEmpty)
    apps = try changed(apps, file, [("news", try material("news")), ("shop", .gone)])
    #expect(apps.redis.displaced.isEmpty && apps.redis.ids == ["news"])
  }

  @Test("apps of Redis go on, with their numbers, when the file is loaded anew")
  func survivesReload() throws {
    var file = configuration("shop")
    var apps = try ConfiguredApps(file, client: client)
    apps = try changed(apps, file, [("news", try material("news"))])
    let news = apps.directory.numbers(app: "news")
    file = configuration("shop", "third")
    apps = try ConfiguredApps(file, client: client, after: apps)
    #expect(apps.directory.numbers(app: "news") == news)
    #expect(apps.directory.numbers(app: "third").count == 1)
    #expect(apps.redis.usable.keys.elementsEqual(["news"]))
    let tried = try apps.tryingAgain(file, countMax: 5, client: client)
    #expect(tried.directory.numbers(app: "news") == news && tried.redis == apps.redis)
  }

  @Test("an app that finds no place is read again when it fits in, and not before")
  func waitsForPlaces() throws {
    let provider = try #require(
      ConfiguredApps(configuration("shop"), client: client).directory.entries.first
    ).provider
    let crowd = (0..<(ProviderLimits.entriesMax - 3)).map {
      ProviderDirectory.Entry(
        number: $0, app: "crowd", environments: [.production], provider: provider)
    }
    let file = configuration()
    var apps = try ConfiguredApps(
      ProviderDirectory(entries: crowd), leftOut: [], redis: RedisApps())
    apps = try changed(
      apps, file,
      [
        ("mail", try material("mail")), ("news", try material("news")),
        ("tail", try material("tail") { $0.fcm = nil }),
      ])
    #expect(Set(apps.redis.usable.keys) == ["mail", "tail"])
    #expect(apps.redis.placesNeeded == ["news": 2] && apps.toBeRead.isEmpty)
    // One place is not enough.
    apps = try changed(apps, file, [("tail", .gone)])
    #expect(apps.toBeRead.isEmpty)
    apps = try changed(apps, file, [("mail", .gone)])
    #expect(apps.toBeRead == ["news"])
    apps = try changed(apps, file, [("news", try material("news"))])
    #expect(apps.redis.usable.keys.elementsEqual(["news"]) && apps.redis.placesNeeded.isEmpty)
    // One that is gone waits for nothing.
    apps = try changed(apps, file, [("mail", try material("mail"))])
    #expect(apps.redis.placesNeeded == ["mail": 2])
    apps = try changed(apps, file, [("mail", .gone)])
    #expect(apps.redis.placesNeeded.isEmpty && apps.redis.leftOut.isEmpty)
  }

  @Test("an app of Redis shares a project's quota with those alone that have its key")
  func quotas() throws {
    var file = configuration()
    file.apps = [
      AppConfiguration(
        id: "shop",
        networks: AppNetworks(
          fcm: FCMConfiguration(serviceAccountFile: account.file, messagesPerMinute: 600)))
    ]
    var apps = try ConfiguredApps(file, client: client)
    func rate(_ app: String) throws -> RateLimit? {
      try #require(
        apps.directory.entries.first { $0.app == app && $0.provider.network == .fcm }
      ).limits.last
    }
    let own = try TemporaryFolder()
    let other = try FCMServiceAccount(folder: own.path, tokenURI: "https://localhost/token")
    apps = try changed(
      apps, file,
      [
        ("news", try material("news", messagesPerMinute: 60_000)),
        ("mail", try material("mail", messagesPerMinute: 60)),
        ("evil", try material("evil", account: other.file, messagesPerMinute: 1)),
      ])
    withExtendedLifetime(own) {}
    #expect(apps.redis.leftOut.isEmpty)
    let (shop, news, mail, evil) = (
      try rate("shop"), try rate("news"), try rate("mail"), try rate("evil")
    )
    #expect(shop?.name == "fcm:\(account.projectID)" && shop?.perSecond == 10)
    #expect(news?.name == mail?.name && news?.perSecond == 1_000 && mail?.perSecond == 1)
    #expect(evil?.name.hasPrefix("fcm:\(account.projectID):") == true)
    #expect(Set([shop, news, evil].map { $0?.name }).count == 3)
    // Nor does the quota of an app of Redis keep one of the file out.
    file.apps[0].fcm?.messagesPerMinute = 1_200
    apps = try ConfiguredApps(file, client: client, after: apps)
    #expect(apps.leftOut.isEmpty && apps.redis.leftOut.isEmpty)
    // Another quota is no other entry.
    let numbers = apps.directory.numbers(app: "news")
    apps = try changed(apps, file, [("news", try material("news", messagesPerMinute: 120))])
    #expect(try rate("news")?.perSecond == 2)
    #expect(apps.directory.numbers(app: "news") == numbers)
  }

  @Test("an app that comes up twice while all are read is taken once")
  func twice() throws {
    let file = configuration()
    let apps = try changed(
      try ConfiguredApps(file, client: client), file, all: true,
      [("news", try material("news")), ("news", try material("news"))])
    #expect(apps.directory.entries.count == 2)
  }

  @Test("what is wrong with a document's secret is told by the place that it stands in")
  func checks() throws {
    guard case .material(let good, _, _) = try material("news"),
      case .material(let bad, _, _) = try material("news", key: account.file)
    else {
      Issue.record("no material")
      return
    }
    try good.check()
    let error = #expect(throws: InvalidField.self) { try bad.check() }
    #expect(error?.pointer == "/apns/production/key")
    #expect(error?.message.hasPrefix("the value ") == true, "\(String(describing: error))")
  }

  @Test("a certificate that takes long to open is refused for an app of Redis alone")
  func longToOpen() throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueClient(commonName: "news")
    defer { withExtendedLifetime(certificates) {} }
    func container(iterations: Int) throws -> [UInt8] {
      Array(
        try OpenSSLCommand.run(
          "pkcs12", "-export", "-in", issued.combinedFile, "-passout", "pass:secret", "-iter",
          String(iterations), "-nomaciter"))
    }
    func check(_ certificate: [UInt8]) throws {
      var form = AppForm()
      form.apns[.production] = AppForm.APNs(
        credential: .certificate, topic: "com.example.news", access: AppForm.Access())
      let material = AppMaterial(
        id: "news", form,
        secrets: [
          .apns(.production, .certificate): AppSecret(certificate),
          .apns(.production, .password): AppSecret(Array("secret".utf8)),
        ])
      try material.check()
    }
    try check(container(iterations: ProviderLimits.redisKeyIterationsMax - 1))
    let slow = try container(iterations: ProviderLimits.redisKeyIterationsMax + 1)
    let error = #expect(throws: InvalidField.self) { try check(slow) }
    #expect(error?.pointer == "/apns/production/certificate")
    #expect(
      error?.message.contains("openssl pkcs12 -in push.p12 -nodes -out push.pem") == true,
      "\(String(describing: error))")
    // A file of the configuration is its owner's own affair.
    let (file, password) = (folder.file("slow.p12"), folder.file("slow.pass"))
    try PrivateFile.write(slow, to: file)
    try PrivateFile.write("secret", to: password)
    let shop = AppConfiguration(
      id: "shop",
      networks: AppNetworks(apns: [
        .production: APNsConfiguration(
          credential: .certificate(file: file, passwordFile: password), topic: "com.example.shop")
      ]))
    #expect(try ConfiguredApps(Configuration(apps: [shop]), client: client).leftOut.isEmpty)
  }

  @Test("what is said later of an app's certificate and master secret names no file")
  func places() async throws {
    let certificates = try TestCertificates()
    let issued = try certificates.authority.issueClient(commonName: "push", validDays: 10)
    var form = AppForm()
    form.apns[.production] = AppForm.APNs(
      credential: .certificate, topic: "com.example.news", access: AppForm.Access())
    form.jpush = AppForm.JPush(appKey: "abc", access: AppForm.Access())
    let directory = try ProviderDirectory(
      rendering: AppMaterial(
        id: "news", form,
        secrets: [
          .apns(.production, .certificate): try text(issued.combinedFile),
          .jpush(.masterSecret): AppSecret(Array("hidden".utf8)),
        ]))
    let apns = try #require(directory.entries.first).provider.credentials
    let expiry = try #require(apns.certificate)
    #expect(expiry.place == .redis)
    #expect(expiry.sentence(nowMs: WallClock.system.nowMs()) != nil)
    let jpush = try #require(directory.entries.last).provider.credentials
    for source in [apns, jpush] {
      let error = await #expect(throws: CredentialError.self) {
        _ = try await source.refused(generation: 0, reason: "no")
      }
      let reason = try #require(error?.reason)
      #expect(reason.contains("pushpool app set") && !reason.contains("file"), "\(reason)")
    }
  }

  @Test("a form's access is a provider's: endpoint, authorities, proxy and its login")
  func access() throws {
    let certificates = try TestCertificates()
    var form = AppForm()
    var access = AppForm.Access()
    access.endpoint = try ServiceURL("https://relay:8443")
    access.authorities = TextFile.read(certificates.authority.certificateFile, bytesMax: 1 << 16)
    access.proxy = try ProxyURL("socks5h://proxy:1080")
    access.proxyUser = "pool"
    form.jpush = AppForm.JPush(appKey: "abc", access: access)
    let material = AppMaterial(
      id: "news", form,
      secrets: [
        .jpush(.masterSecret): AppSecret([1]), .jpush(.proxyPassword): AppSecret(Array("pw".utf8)),
      ])
    let jpush = try #require(material.accounts.first as? JPushMaterial)
    #expect(jpush.access.address == ServiceAddress(host: "relay", port: 8443))
    #expect(jpush.access.proxy?.login?.user == "pool")
    #expect(jpush.access.proxy?.login?.password == "pw")
    try material.check()
  }
}
