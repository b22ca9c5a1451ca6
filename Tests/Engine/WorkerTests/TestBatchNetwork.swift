import Model
import Reactor

@testable import Providers

/// A network that takes three pushes a request. It answers as the test says: 200 accepts, 400 is about a push that the body
/// names or, when it is empty, nobody does, 410 says that all tokens are dead, anything else is trouble. A badge that is
/// raised stands behind the tokens. A badge and the title have twelve bytes at most.
struct TestBatchNetwork: PushProvider {
  static let pushesMax = 3

  let network = Network.jpush
  var tellsRemainingTime = false
  let pushesPerRequest = TestBatchNetwork.pushesMax
  let destination: PushDestination
  let credentials: any CredentialSource = CertificateCredentialSource(.file("test.p12"))

  init(acceptsHTTP1: Bool = false) throws {
    destination = PushDestination(
      address: ServiceAddress(host: "127.0.0.1", port: 9),
      tls: try TLSContext.client(caFile: nil, alpn: ["h2"]), startsWithOneStream: false,
      acceptsHTTP1: acceptsHTTP1)
  }

  func render(
    _ content: JobContent, createdAtMs: Int64, nowMs: Int64
  ) throws(InvalidField) -> RenderedPush {
    let badge = content.raisesBadge ? Mark.badge(atMost: nil).text : ""
    return RenderedPush(
      headers: [], path: .fixed(Array("/push".utf8)),
      body: .aroundTokens(
        opening: Array("<".utf8), afterID: Array(" ".utf8), separator: Array("+".utf8),
        closing: Array(" \(badge)>".utf8)), dryRun: .off,
      limits: [
        RenderedPush.Limit(
          text: Array(((content.notification?.title ?? "") + badge).utf8), bytesMax: 12,
          isJSON: true)
      ])
  }

  func classify(_ answer: ProviderAnswer) -> Classification {
    switch answer.status {
    case 200: .accepted
    case 400, 410: .invalidToken(reason: "no such device", sinceMs: nil)
    default: .retry(afterMs: nil, reason: "trouble")
    }
  }

  func classify(_ answer: ProviderAnswer, pushes: Int) -> BatchClassification {
    guard answer.status == 400 else { return .all(classify(answer)) }
    let token = answer.body.isEmpty ? nil : String(decoding: answer.body, as: UTF8.self)
    return .split(reason: "one of them", token: token)
  }
}
