import Model
import Providers
import Reactor

/// Providers for tests that open no connection.
enum TestProvider {
  static func apns(topic: String = "com.example.shop") throws -> APNsProvider {
    APNsProvider(
      topic: topic, destination: try destination(),
      credentials: CertificateCredentialSource(.file("test.p12")))
  }

  static func fcm(projectID: String = "demo-shop") throws -> FCMProvider {
    FCMProvider(
      projectID: projectID, destination: try destination(),
      credentials: CertificateCredentialSource(.file("test.p12")))
  }

  static func jpush(environment: PushEnvironment = .production) throws -> JPushProvider {
    JPushProvider(
      appKey: "7d43", environment: environment, destination: try destination(),
      credentials: CertificateCredentialSource(.file("test.p12")))
  }

  /// One for all: reading the system's authorities takes longer than any of these tests.
  private static let tls = Result { try TLSContext.client(caFile: nil, alpn: ["h2"]) }

  private static func destination() throws -> PushDestination {
    PushDestination(
      address: ServiceAddress(host: "push.example"), tls: try tls.get(), proxy: nil,
      startsWithOneStream: false)
  }
}

extension PushProvider {
  func classify(_ status: Int, _ body: String, retryAfterSeconds: Int? = nil) -> Classification {
    Array(body.utf8).withUnsafeBytes {
      classify(ProviderAnswer(status: status, retryAfterSeconds: retryAfterSeconds, body: $0))
    }
  }

  /// Renders what a producer wrote; created and rendered at the same instant unless told otherwise.
  func render(
    _ json: String, createdAtMs: Int64 = 1_790_000_000_000, nowMs: Int64 = 1_790_000_000_000
  ) throws -> RenderedPush {
    try render(
      JobContent(bytes: Array(json.utf8)), createdAtMs: createdAtMs, nowMs: nowMs)
  }
}

extension RenderedPush {
  subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The body as it goes to the device with this token.
  func text(token: String) -> String { text(tokens: [token]) }

  /// The body as it goes to the devices with these tokens; to the first one where a request carries one push.
  func text(tokens: [String], id: String = "id") -> String {
    String(decoding: body(to: tokens, id: id), as: UTF8.self)
  }

  func json(token: String = "token") throws -> JSONValue { try json(tokens: [token]) }

  func json(tokens: [String]) throws -> JSONValue { try JSONParser().parse(text(tokens: tokens)) }
}
