import Foundation
import HTTPClient
import LocalServices
import Model
import PushpoolConfiguration
import Reactor
import TestSupport
import Testing

@testable import Providers

@Suite("Apps of a configuration")
struct ConfiguredAppsTests {
  let folder: TemporaryFolder
  let key: APNsSigningKey
  let account: FCMServiceAccount

  init() throws {
    folder = try TemporaryFolder()
    key = try APNsSigningKey(folder: folder.path)
    account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
  }

  private func app(_ id: String, keyFile: String? = nil) -> AppConfiguration {
    AppConfiguration(
      id: id,
      networks: AppNetworks(
        apns: [
          .production: APNsConfiguration(
            credential: .token(keyFile: keyFile ?? key.file, keyID: key.keyID, teamID: key.teamID),
            topic: "com.example.\(id)")
        ], fcm: FCMConfiguration(serviceAccountFile: account.file)))
  }

  private func load(
    _ apps: [AppConfiguration], after previous: ProviderDirectory? = nil
  ) throws -> ConfiguredApps {
    try ConfiguredApps(
      Configuration(apps: apps), client: HTTPClient(),
      after: try previous.map { try ConfiguredApps($0, leftOut: [], redis: RedisApps()) })
  }

  private func source(_ directory: ProviderDirectory, _ app: String) throws -> ObjectIdentifier {
    let provider = try #require(
      directory.provider(app: app, network: .fcm, environment: .production))
    return ObjectIdentifier(provider.credentials as AnyObject)
  }

  @Test("what is the same in the next configuration goes on under its number, with its credentials")
  func goesOn() async throws {
    let first = try load([app("shop"), app("news")]).directory
    let header = try await first.entries[0].provider.credentials.current().header
    var faster = app("news")
    faster.pushesPerSecond = 50
    let next = try load([app("shop"), faster, app("third")], after: first).directory
    #expect(next.numbers(app: "shop") == first.numbers(app: "shop"))
    #expect(next.entries(missingIn: first).map(\.number) == [4, 5, 6, 7])
    #expect(first.entries(missingIn: next).map(\.app) == ["news", "news"])
    // The new entries have the same key and account.
    for app in ["shop", "news", "third"] {
      let apns = try #require(
        next.provider(app: app, network: .apns, environment: .production))
      #expect(try await apns.credentials.current().header == header)
      #expect(try source(next, app) == source(first, "shop"))
    }
    #expect(next.sources.trust.count == 1 && next.sources.contexts.count == 1)
  }

  @Test("a key that was replaced in its file is another entry with another token")
  func noticesReplacedKey() async throws {
    let file = folder.file("current.p8")
    func put(_ key: APNsSigningKey) throws {
      try Data(contentsOf: URL(fileURLWithPath: key.file)).write(to: URL(fileURLWithPath: file))
    }
    try put(key)
    let first = try load([app("shop", keyFile: file)]).directory
    try put(try APNsSigningKey(folder: folder.path, keyID: "OTHER12345"))
    let next = try load([app("shop", keyFile: file)], after: first).directory
    #expect(first.entries(missingIn: next).map(\.provider.network) == [.apns])
    let old = try await first.entries[0].provider.credentials.current().header
    let new = try #require(next.provider(app: "shop", network: .apns, environment: .production))
    #expect(try await new.credentials.current().header != old)
    // Nobody uses the old one any more.
    #expect(next.sources.tokenSources.count == 2)
  }

  @Test("a token exchange trusts the authorities that were loaded, whatever becomes of their file")
  func keepsAuthorities() async throws {
    let certificates = try TestCertificates()
    let file = folder.file("trusted.pem")
    let moved = folder.file("moved.pem")
    @Sendable func copy(_ authority: CertificateAuthority, to path: String) throws {
      let text = try #require(TextFile.read(authority.certificateFile, bytesMax: 1 << 16))
      try PrivateFile.write(text, to: path)
    }
    try await TestLane.run { lane in
      let server = try HTTP1Server(
        loop: lane.loop, tls: try certificates.serverContext(alpn: ["http/1.1"])
      ) { _ in HTTP1Server.response(body: #"{"access_token": "abc", "expires_in": 3599}"#) }
      defer { server.close() }
      var shop = AppConfiguration(
        id: "shop", networks: AppNetworks(fcm: FCMConfiguration(serviceAccountFile: account.file)))
      shop.fcm?.tokenEndpoint = try ServiceURL(
        "https://localhost:\(server.port)/token", allowsPath: true)
      shop.fcm?.access.caFile = file
      try copy(certificates.authority, to: file)
      let first = try load([shop]).directory
      // Another authority is another source, and changes nothing of the one before.
      try copy(try CertificateAuthority(folder: folder.path), to: file)
      let other = try load([shop], after: first).directory
      #expect(try source(other, "shop") != source(first, "shop"))
      // The same authority in another file is the same source.
      try copy(certificates.authority, to: moved)
      shop.fcm?.access.caFile = moved
      let next = try load([shop], after: first).directory
      #expect(try source(next, "shop") == source(first, "shop"))
      try FileManager.default.removeItem(atPath: moved)
      let credentials = try #require(next.entries.first?.provider.credentials)
      #expect(try await credentials.current().header == "Bearer abc")
      await #expect(throws: CredentialError.self) {
        try await other.entries[0].provider.credentials.current()
      }
    }
  }

  @Test("a number is never given twice, also when the entry with the highest went")
  func givesNoNumberTwice() throws {
    var directory = try load([app("shop"), app("news")]).directory
    #expect(directory.numbersEnd == 4)
    directory = try load([app("shop")], after: directory).directory
    #expect(directory.numbersEnd == 4)
    directory = try load([app("shop"), app("news")], after: directory).directory
    #expect(directory.entries.map(\.number) == [0, 1, 4, 5])
    #expect(directory.numbers(app: "news") == [4, 5])
  }

  @Test("a rate that changes leaves the entries as they are: numbers do not run out by rates")
  func changesRates() throws {
    var shop = app("shop")
    shop.pushesPerSecond = 5
    let first = try load([shop]).directory
    shop.pushesPerSecond = 7
    shop.fcm?.messagesPerMinute = 1_200
    let next = try load([shop], after: first).directory
    #expect(next.numbersEnd == first.numbersEnd)
    #expect(next.numbers(app: "shop") == first.numbers(app: "shop"))
    let rates: [[Double]] = next.entries.map { entry in entry.limits.map { $0.perSecond } }
    #expect(rates == [[7], [7, 20]])
    #expect(!next.sends("shop", as: first) && next.sends("shop", as: next))
    #expect(next.entries[0].originText != first.entries[0].originText)
    // A rate where there was none is another entry's.
    shop.pushesPerSecond = nil
    let free = try load([shop], after: next).directory
    #expect(free.numbers(app: "shop") != next.numbers(app: "shop"))
  }

  @Test(
    "an app with files that cannot be used is left out with all that is wrong, and keeps no other")
  func leavesOut() throws {
    let missing = folder.file("missing")
    var bad = app("bad", keyFile: missing)
    bad.fcm?.serviceAccountFile = key.file
    bad.fcm?.access.caFile = missing
    let apps = try load([app("shop"), bad, app("news")])
    #expect(apps.directory.entries.map(\.app) == ["shop", "shop", "news", "news"])
    let left = try #require(apps.leftOut.first)
    #expect(apps.leftOut.count == 1 && left.id == "bad")
    #expect(
      left.errors.map(\.field) == ["apps[1].apns.production.key_file", "apps[1].fcm.ca_file"])
    #expect(left.errors.allSatisfy { $0.message.hasPrefix("\(missing) cannot be opened") })
    // What can be read is looked into.
    bad.fcm?.access.caFile = nil
    var unfit = app("bad", keyFile: account.file)
    unfit.fcm = bad.fcm
    let errors = try load([unfit]).leftOut.first?.errors
    #expect(
      errors?.map(\.field) == [
        "apps[0].apns.production.key_file", "apps[0].fcm.service_account_file",
      ])
  }

  @Test(
    "apps that were left out are tried again by themselves, so many at a time, and the others go on"
  )
  func triesAgain() async throws {
    let missing = (0..<3).map { folder.file("late-\($0).p8") }
    let configuration = Configuration(
      apps: [app("shop")] + missing.enumerated().map { app("late\($0)", keyFile: $1) })
    let client = HTTPClient()
    let first = try ConfiguredApps(configuration, client: client)
    #expect(first.leftOut.map(\.id) == ["late0", "late1", "late2"])
    let header = try await first.directory.entries[0].provider.credentials.current().header
    // Nothing was mended: those that were tried stand behind the others.
    var next = try first.tryingAgain(configuration, countMax: 2, client: client)
    #expect(next.leftOut.map(\.id) == ["late2", "late0", "late1"])
    #expect(next.errors == first.errors)
    for file in missing {
      try Data(contentsOf: URL(fileURLWithPath: key.file)).write(to: URL(fileURLWithPath: file))
    }
    next = try next.tryingAgain(configuration, countMax: 2, client: client)
    #expect(next.leftOut.map(\.id) == ["late1"])
    #expect(next.directory.numbers(app: "shop") == first.directory.numbers(app: "shop"))
    #expect(Set(next.directory.entries.map(\.app)) == ["shop", "late0", "late2"])
    // With the same key, they have its token.
    let late = try #require(
      next.directory.provider(app: "late2", network: .apns, environment: .production))
    #expect(try await late.credentials.current().header == header)
  }

  @Test("a file that cannot be used is named with the line of the configuration")
  func namesTheLine() throws {
    let yaml = """
      apps:
        - id: shop
          jpush:
            app_key: a1
            master_secret_file: missing.secret
      """
    let configuration = try Configuration.parse(yaml, file: folder.file("pushpool.yaml"))
    let apps = try ConfiguredApps(configuration, client: HTTPClient())
    let error = try #require(apps.leftOut.first?.errors.first)
    #expect(error.file == folder.file("pushpool.yaml") && error.line == 5)
    #expect(error.field == "apps[0].jpush.master_secret_file")
  }

  @Test("two quotas of one project leave the second app out")
  func refusesSecondQuota() throws {
    var greedy = app("greedy")
    greedy.fcm?.messagesPerMinute = 1
    let apps = try load([app("shop"), greedy])
    #expect(apps.leftOut.map(\.id) == ["greedy"])
    #expect(apps.directory.numbers(app: "shop").count == 2)
    // One that is left out for something else has no say.
    greedy.apns[.production]?.credential = .certificate(
      file: folder.file("missing"), passwordFile: nil)
    #expect(try load([greedy, app("shop")]).leftOut.map(\.id) == ["greedy"])
  }

  @Test("more networks than a process can have are refused, with what to do")
  func tooMany() throws {
    let provider = try TestProvider.apns()
    let entries = (0..<40_000).map {
      ProviderDirectory.Entry(
        number: $0, app: "app-\($0 / 2)", environments: [.production], provider: provider)
    }
    let error = #expect(throws: ConfigurationError.self) {
      try ConfiguredApps(
        ProviderDirectory(entries: entries), leftOut: [], redis: RedisApps())
    }
    #expect(
      error?.message.hasPrefix(
        "have 40000 networks and environments between them, and must have at most") == true)
  }

  @Test("an app may come from elsewhere than files, and nothing shows its secrets")
  func takesBytes() async throws {
    func bytes(_ path: String) throws -> MaterialBytes {
      MaterialBytes(
        Array(try Data(contentsOf: URL(fileURLWithPath: path))), source: "app shop in Redis")
    }
    let apns = APNsMaterial(
      environment: .development,
      credential: .token(key: try bytes(key.file), keyID: key.keyID, teamID: key.teamID),
      topic: "com.example.shop")
    var fcm = FCMMaterial(account: try bytes(account.file), messagesPerMinute: 600)
    let jpush = JPushMaterial(
      appKey: "a1", masterSecret: MaterialBytes(Array("5e987ac6".utf8), source: "Redis"))
    var material = AppMaterial(id: "shop", pushesPerSecond: 10, accounts: [apns, fcm, jpush])
    var text = ""
    dump(material, to: &text)
    #expect(!text.contains("5e987ac6") && text.contains("app shop in Redis"))
    var builder = ProviderBuilder(client: HTTPClient(), clock: .system)
    try builder.add(material)
    let directory = builder.directory()
    #expect(directory.entries.map(\.provider.network) == [.apns, .fcm, .jpush, .jpush])
    #expect(try await directory.entries[0].provider.credentials.current().header != nil)

    fcm.account = MaterialBytes(Array("{}".utf8), source: "app shop in Redis")
    material.accounts = [apns, fcm, jpush]
    do throws(MaterialProblems) {
      try builder.add(material)
      Issue.record("an empty account was accepted")
    } catch {
      #expect(error.all.map(\.part) == ["fcm.service_account_file"])
      #expect(error.all.first?.message.hasPrefix("app shop in Redis has no") == true)
    }
  }
}
