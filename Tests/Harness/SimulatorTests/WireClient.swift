import HTTP2
import LocalServices
import Reactor
import Synchronization

@testable import Simulator

/// A simulator on its own port, and a client that pushes to it over TLS HTTP/2.
final class WireClient: Sendable {
  /// How a push ended.
  enum Ending: Equatable, CustomStringConvertible {
    case answered(Int, retryAfterSeconds: Int? = nil)
    case unknown
    case notSent

    var description: String {
      switch self {
      case .answered(let status, let seconds): "\(status)" + (seconds.map { " after \($0)" } ?? "")
      case .unknown: "unknown"
      case .notSent: "not sent"
      }
    }
  }

  let folder: TemporaryFolder
  let simulator: Simulator
  let logFile: String
  private let loop: EventLoop
  private let authority: CertificateAuthority
  private let signing: APNsSigningKey
  private let clientIdentity: ClientIdentity?

  init(
    script: SimulatorScript = SimulatorScript(), usesCertificate: Bool = false,
    logFile: String? = nil, receivedDescriptor: CInt? = nil
  ) throws {
    folder = try TemporaryFolder()
    authority = try CertificateAuthority(folder: folder.path)
    let certificate = try authority.issueServer()
    signing = try APNsSigningKey(folder: folder.path)
    self.logFile = logFile ?? folder.file("accepted.log")
    var options = SimulatorOptions(
      certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
    options.accounts.apnsKeys = [
      KnownAPNsKey(keyID: signing.keyID, teamID: signing.teamID, file: signing.file)
    ]
    options.acceptLogFile = self.logFile
    options.receivedDescriptor = receivedDescriptor
    options.keptAcceptsMax = 10_000
    options.script = script
    if usesCertificate {
      options.clientAuthorityFile = authority.certificateFile
      let issued = try authority.issueClient(commonName: "push", fileName: "client")
      clientIdentity = try ClientIdentity(file: issued.combinedFile)
    } else {
      clientIdentity = nil
    }
    simulator = Simulator(options: options)
    try simulator.start()
    loop = try EventLoop(name: "client")
    try loop.start()
  }

  deinit {
    loop.stop()
    loop.join()
    simulator.stop()
  }

  var log: [String] {
    get throws {
      let bytes = try BoundedFile.read(logFile, bytesMax: 1 << 20)
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  /// Pushes `count` times on one connection (and its replacements), with all the streams it may use.
  func push(
    _ count: Int, tokens: [String] = ["00112233"], bodyBytes: Int = 60, timeoutMs: UInt64 = 20_000,
    streamsMax: Int = 1_000, startsWithOneStream: Bool = true
  ) async throws -> [Ending] {
    var settings = ClientSettings(
      endpoint: .tcp(host: "127.0.0.1", port: simulator.port),
      tls: try TLSContext.client(
        caFile: authority.certificateFile, identity: clientIdentity, alpn: ["h2"]))
    settings.serverName = "localhost"
    settings.connectionsMax = 1
    settings.streamsMax = streamsMax
    settings.startsWithOneStream = startsWithOneStream
    settings.requestTimeoutMs = timeoutMs
    settings.reconnectMsMin = 1
    settings.reconnectMsMax = 4
    var headers = [("apns-topic", "com.example.shop"), ("apns-push-type", "alert")]
    if clientIdentity == nil { headers.append(("authorization", "bearer " + providerToken)) }
    let plan = PushRun.Plan(
      settings: settings, headers: headers.map { (name: $0.0, value: $0.1) }, count: count,
      tokens: tokens, bodyBytes: bodyBytes)
    return await PushRun.run(plan, on: loop)
  }

  private let token = Mutex<String?>(nil)

  private var providerToken: String {
    token.withLock { token in
      if let token { return token }
      let pem = (try? BoundedFile.read(signing.file, bytesMax: 65_536)) ?? []
      let made = SigningKey(pem: pem, .ellipticCurve).providerToken(
        keyID: signing.keyID, teamID: signing.teamID, issuedAt: nowSeconds() - 1)
      token = made
      return made
    }
  }
}
