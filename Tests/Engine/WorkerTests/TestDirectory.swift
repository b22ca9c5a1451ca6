import Model
import Providers
import Reactor

/// Push networks of the app `shop` whose connections are refused.
enum TestDirectory {
  static let credential = Credential(
    header: "bearer t", generation: 1, expiresAtMs: .max, refreshAtMs: .max)

  /// - Parameter environments: those of APNs that it has credentials for.
  static func of(
    _ environments: PushEnvironment..., limits: [RateLimit] = [],
    credentials: any CredentialSource = CertificateCredentialSource(file: "test.p12")
  ) throws -> ProviderDirectory {
    ProviderDirectory(
      entries: try environments.enumerated().map { number, environment in
        ProviderDirectory.Entry(
          number: number, app: "shop", environments: [environment],
          provider: APNsProvider(
            topic: "com.example.shop",
            destination: PushDestination(
              address: ServiceAddress(host: "127.0.0.1", port: 9),
              tls: try TLSContext.client(caFile: nil, alpn: ["h2"]), startsWithOneStream: false),
            credentials: credentials),
          limits: limits)
      })
  }
}
