import Model
import Providers
import Reactor

@testable import Worker

/// Push networks of the app `shop` whose connections are refused.
enum TestDirectory {
  static let credential = Credential(
    header: "bearer t", generation: 1, expiresAtMs: .max, refreshAtMs: .max)

  /// - Parameters:
  ///   - environments: those of APNs that it has credentials for.
  ///   - first: the number of the first entry.
  static func of(
    _ environments: PushEnvironment..., app: String = "shop", from first: Int = 0,
    limits: [RateLimit] = [],
    credentials: any CredentialSource = CertificateCredentialSource(.file("test.p12"))
  ) throws -> ProviderDirectory {
    ProviderDirectory(
      entries: try environments.enumerated().map { number, environment in
        ProviderDirectory.Entry(
          number: first + number, app: app, environments: [environment],
          provider: APNsProvider(
            topic: "com.example.\(app)",
            destination: PushDestination(
              address: ServiceAddress(host: "127.0.0.1", port: 9),
              tls: try TLSContext.client(caFile: nil, alpn: ["h2"]), startsWithOneStream: false),
            credentials: credentials),
          limits: limits)
      })
  }

  /// The snapshot of a configuration with these apps.
  static func snapshot(_ directory: ProviderDirectory, apps: String...) -> WorkerSnapshot {
    WorkerSnapshot(
      directory: directory, routes: directory.routes(of: apps),
      rules: JobRules(
        eventsPerMinute: ["shop": 2], timeZones: ["shop": "Asia/Tokyo"],
        retention: RetentionRules(
          usual: JobRetention(manySeconds: 7_200, namedSeconds: 7_200, unnamedSeconds: 7_200)),
        unroutedMs: 60_000))
  }
}
