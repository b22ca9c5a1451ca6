import Foundation
import HTTPClient
import LocalServices
import Model
import PushpoolConfiguration
import Reactor
import Testing

@testable import Providers

@Suite("Providers of a configuration")
struct ProviderDirectoryTests {
  let folder: TemporaryFolder
  let key: APNsSigningKey
  let account: FCMServiceAccount

  init() throws {
    folder = try TemporaryFolder()
    key = try APNsSigningKey(folder: folder.path)
    account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
  }

  @Test("each app, network and environment finds its provider at its usual host")
  func lookup() throws {
    let directory = try make(
      AppConfiguration(
        id: "shop",
        networks: AppNetworks(apns: [.production: token(), .development: token()], fcm: fcm())))
    #expect(directory.entries.count == 3)
    let production = try #require(
      directory.provider(app: "shop", network: .apns, environment: .production))
    #expect(production.destination.endpoint == .tcp(host: "api.push.apple.com", port: 443))
    #expect(production.destination.authority == "api.push.apple.com")
    #expect(production.destination.startsWithOneStream)
    let development = directory.provider(app: "shop", network: .apns, environment: .development)
    #expect(development?.destination.authority == "api.sandbox.push.apple.com")
    let numbers = PushEnvironment.allCases.map {
      directory.number(app: "shop", network: .fcm, environment: $0)
    }
    #expect(numbers == [2, 2])
    #expect(directory.entries[2].provider.destination.authority == "fcm.googleapis.com")
    #expect(!directory.entries[2].provider.destination.startsWithOneStream)
    #expect(directory.provider(app: "shop", network: .jpush, environment: .production) == nil)
    #expect(directory.provider(app: "other", network: .fcm, environment: .production) == nil)
  }

  @Test("an entry goes by a number of its own, and a directory tells which another has not")
  func numbers() throws {
    func entries(_ numbers: Int...) throws -> ProviderDirectory {
      ProviderDirectory(
        entries: try numbers.map {
          ProviderDirectory.Entry(
            number: $0, app: "app-\($0)", environments: PushEnvironment.all,
            provider: try TestProvider.fcm())
        })
    }
    let directory = try entries(3, 5, 900)
    for number in [3, 5, 900] { #expect(directory.entry(number)?.app == "app-\(number)") }
    for number in [0, 4, 899, 901] { #expect(directory.entry(number) == nil) }
    #expect(directory.numbersEnd == 901)
    #expect(directory.numbers(app: "app-5") == [5])
    let next = try entries(5, 7)
    #expect(directory.entries(missingIn: next).map(\.number) == [3, 900])
    #expect(next.entries(missingIn: directory).map(\.number) == [7])
    #expect(directory.entries(missingIn: directory).isEmpty)
    #expect(try entries().entries(missingIn: directory).isEmpty)
  }

  @Test("apps without a client certificate share a TLS context when they trust the same")
  func sharesTrust() throws {
    let other = try CertificateAuthority(folder: folder.path)
    var strict = fcm()
    strict.access.caFile = other.certificateFile
    let directory = try make(
      AppConfiguration(id: "shop", networks: AppNetworks(apns: [.production: token()], fcm: fcm())),
      AppConfiguration(id: "news", networks: AppNetworks(apns: [.production: token()], fcm: strict))
    )
    let contexts = directory.entries.map { ObjectIdentifier($0.provider.destination.tls) }
    #expect(contexts.count == 4)
    #expect(Set(contexts[..<3]).count == 1)
    #expect(contexts[3] != contexts[0])
  }

  @Test("JPush has a provider for each environment, with one credential and over libcurl")
  func jpush() async throws {
    let secret = folder.file("jpush.secret")
    try "5e987ac6d2e04d95a9d8f0d1\n".write(toFile: secret, atomically: false, encoding: .utf8)
    let jpush = JPushConfiguration(appKey: "7d431e42dfa6a6d693ac2d04", masterSecretFile: secret)
    let directory = try make(
      AppConfiguration(id: "shop", networks: AppNetworks(jpush: jpush)),
      AppConfiguration(id: "sister", networks: AppNetworks(jpush: jpush)))
    #expect(directory.entries.count == 4)
    #expect(directory.entries.map(\.environments).prefix(2) == [[.production], [.development]])
    for entry in directory.entries {
      let destination = entry.provider.destination
      #expect(destination.authority == "api.jpush.cn")
      #expect(destination.acceptsHTTP1)
      #expect(!destination.startsWithOneStream)
      // The example of JPush's documentation.
      #expect(
        try await entry.provider.credentials.current().header
          == "Basic N2Q0MzFlNDJkZmE2YTZkNjkzYWMyZDA0OjVlOTg3YWM2ZDJlMDRkOTVhOWQ4ZjBkMQ==")
    }
    await #expect(throws: CredentialError.self) {
      try await directory.entries[0].provider.credentials.refused(
        generation: 0, reason: "1004 authentication failed")
    }
    // They have the same key and secret.
    await #expect(throws: CredentialError.self) {
      try await directory.entries[3].provider.credentials.current()
    }
    let missing = folder.file("missing")
    expectError("apps[0].jpush.master_secret_file", missing) {
      AppConfiguration(
        id: "shop",
        networks: AppNetworks(jpush: JPushConfiguration(appKey: "a", masterSecretFile: missing)))
    }
  }

  @Test("apps and environments with the same key share one token, others do not")
  func sharing() async throws {
    let other = try APNsSigningKey(folder: folder.path, keyID: "OTHER12345")
    let directory = try make(
      AppConfiguration(
        id: "a",
        networks: AppNetworks(apns: [.production: token(), .development: token()], fcm: fcm())),
      AppConfiguration(
        id: "b",
        networks: AppNetworks(apns: [.production: token(), .development: token(other)], fcm: fcm()))
    )
    let apns = directory.entries.filter { $0.provider.network == .apns }.map(\.provider.credentials)
    var headers: [String?] = []
    for source in apns { headers.append(try await source.current().header) }
    #expect(headers[0] != nil)
    #expect(headers[0] == headers[1])
    #expect(headers[0] == headers[2])
    #expect(headers[0] != headers[3])
    let fcm = directory.entries.filter { $0.provider.network == .fcm }.map {
      ObjectIdentifier($0.provider.credentials as AnyObject)
    }
    #expect(fcm.count == 2)
    #expect(fcm[0] == fcm[1])
  }

  @Test(
    "a key that may not send to one destination pauses that one alone",
    arguments: ["UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "Forbidden"])
  func scope(reason: String) async throws {
    let clock = TestClock()
    let directory = try ProviderDirectory(
      Configuration(apps: [
        AppConfiguration(
          id: "shop", networks: AppNetworks(apns: [.production: token(), .development: token()]))
      ]), client: HTTPClient(), clock: clock.wallClock)
    let refused = directory.entries[0].provider.credentials
    let other = directory.entries[1].provider.credentials
    let credential = try await refused.current()
    clock.advance(minutes: 30)
    await #expect(throws: CredentialError.self) {
      try await refused.refused(generation: credential.generation, reason: reason)
    }
    await #expect(throws: CredentialError.self) { try await refused.current() }
    #expect(try await other.current() == credential)
    clock.advance(minutes: 5)
    #expect(try await refused.current() == credential)
    // A bad token is bad for both.
    clock.advance(minutes: 1)
    let renewed = try await refused.refused(
      generation: credential.generation, reason: "ExpiredProviderToken")
    #expect(try await other.current() == renewed)
    #expect(renewed != credential)
  }

  @Test("an endpoint, an authority and a proxy lead elsewhere")
  func access() throws {
    let authority = try CertificateAuthority(folder: folder.path)
    var apns = token()
    apns.access = Access(
      endpoint: try ServiceURL("https://127.0.0.1:8443"), caFile: authority.certificateFile,
      proxy: try ProxyURL("http://proxy:3128"))
    let directory = try make(
      AppConfiguration(id: "shop", networks: AppNetworks(apns: [.production: apns])))
    let destination = directory.entries[0].provider.destination
    #expect(destination.endpoint == .tcp(host: "127.0.0.1", port: 8_443))
    #expect(destination.authority == "127.0.0.1:8443")
    #expect(destination.proxy == ProxyServer(.http, host: "proxy", port: 3_128))
  }

  @Test(
    "a proxy is asked in the way that its URL names, and shown the login of its file",
    arguments: ["http", "socks5", "socks5h"])
  func proxyLogin(scheme: String) throws {
    let passwordFile = folder.file("proxy-password")
    try "s3cret\n".write(toFile: passwordFile, atomically: false, encoding: .utf8)
    var apns = token()
    apns.access = Access(
      proxy: try ProxyURL("\(scheme)://proxy:9"),
      proxyLogin: Access.ProxyLogin(user: "push", passwordFile: passwordFile))
    let directory = try make(
      AppConfiguration(id: "shop", networks: AppNetworks(apns: [.production: apns])))
    let way = try #require(ProxyServer.Way(rawValue: scheme))
    let login = ProxyServer.Login(user: "push", password: "s3cret")
    #expect(
      directory.entries[0].provider.destination.proxy
        == ProxyServer(way, host: "proxy", port: 9, login: login))
  }

  @Test("a client certificate authorises without a header and with all streams at once")
  func certificate() async throws {
    let authority = try CertificateAuthority(folder: folder.path)
    let issued = try authority.issueClient(commonName: "Push", p12Password: "open")
    let passwordFile = folder.file("password")
    try "open\n".write(toFile: passwordFile, atomically: false, encoding: .utf8)
    let p12 = try #require(issued.p12File)
    let directory = try make(
      AppConfiguration(
        id: "shop",
        networks: AppNetworks(apns: [
          .production: certificate(issued.combinedFile),
          .development: certificate(p12, passwordFile),
        ])))
    #expect(directory.entries.count == 2)
    for entry in directory.entries {
      #expect(try await entry.provider.credentials.current().header == nil)
      #expect(!entry.provider.destination.startsWithOneStream)
    }
    expectError("apps[0].apns.production.certificate_file", p12) {
      AppConfiguration(id: "shop", networks: AppNetworks(apns: [.production: certificate(p12)]))
    }
  }

  @Test("a file that cannot be used is refused with its name and field")
  func badFiles() throws {
    let missing = folder.file("missing")
    expectError("apps[0].apns.production.key_file", "\(missing) cannot be opened: No such file") {
      var apns = token()
      apns.credential = .token(keyFile: missing, keyID: key.keyID, teamID: key.teamID)
      return AppConfiguration(id: "shop", networks: AppNetworks(apns: [.production: apns]))
    }
    expectError("apps[0].apns.development.certificate_file", "missing.p12") {
      AppConfiguration(
        id: "shop", networks: AppNetworks(apns: [.development: certificate("\(missing).p12")]))
    }
    expectError("apps[0].fcm.service_account_file", "\(key.file) holds a private key and no JSON") {
      AppConfiguration(
        id: "shop", networks: AppNetworks(fcm: FCMConfiguration(serviceAccountFile: key.file)))
    }
    expectError("apps[0].fcm.ca_file", missing) {
      var fcm = fcm()
      fcm.access.caFile = missing
      return AppConfiguration(id: "shop", networks: AppNetworks(fcm: fcm))
    }
  }

  @Test("rates stand beside what they are for, and a project has one quota")
  func rates() throws {
    var shop = AppConfiguration(
      id: "shop", networks: AppNetworks(apns: [.production: token()], fcm: fcm()))
    shop.pushesPerSecond = 50
    let sister = AppConfiguration(
      id: "sister", networks: AppNetworks(apns: [.production: token()], fcm: fcm()))
    let limits = try make(shop, sister).entries.map(\.limits)
    let own = RateLimit(name: "app:shop", perSecond: 50, isOfApp: true)
    #expect(limits[0] == [own] && limits[2] == [])
    #expect(limits[1].map(\.name) == ["app:shop", "fcm:demo-shop"])
    #expect(limits[1].last?.perSecond == 10_000 && limits[1].last == limits[3].first)
    var greedy = fcm()
    greedy.messagesPerMinute = 700_000
    do throws(ConfigurationError) {
      _ = try make(shop, AppConfiguration(id: "greedy", networks: AppNetworks(fcm: greedy)))
      Issue.record("two quotas of one project were accepted")
    } catch {
      #expect(error.field == "apps[1].fcm.messages_per_minute")
      #expect(error.message.contains("demo-shop with 600000"))
    }
  }

  private func make(
    _ apps: AppConfiguration...
  ) throws(ConfigurationError) -> ProviderDirectory {
    try ProviderDirectory(Configuration(apps: apps), client: HTTPClient())
  }

  private func token(_ other: APNsSigningKey? = nil) -> APNsConfiguration {
    let key = other ?? key
    return APNsConfiguration(
      credential: .token(keyFile: key.file, keyID: key.keyID, teamID: key.teamID),
      topic: "com.example.shop")
  }

  private func certificate(_ file: String, _ passwordFile: String? = nil) -> APNsConfiguration {
    APNsConfiguration(
      credential: .certificate(file: file, passwordFile: passwordFile), topic: "com.example.shop")
  }

  private func fcm() -> FCMConfiguration {
    FCMConfiguration(serviceAccountFile: account.file)
  }

  private func expectError(_ field: String, _ message: String, _ app: () -> AppConfiguration) {
    do throws(ConfigurationError) {
      _ = try ProviderDirectory(Configuration(apps: [app()]), client: HTTPClient())
      Issue.record("\(field) was not refused")
    } catch {
      #expect(error.field == field)
      #expect(error.message.contains(message), "\(error)")
    }
  }
}
