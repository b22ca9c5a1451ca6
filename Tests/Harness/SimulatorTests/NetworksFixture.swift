import LocalServices
import Model

@testable import Simulator

/// The simulated networks without sockets, and a push that they accept.
struct NetworksFixture {
  static let now: Int64 = 1_790_000_000
  static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

  let key = SigningKey(.ellipticCurve)
  var networks: PushNetworks
  var connection: ConnectionMemory
  var method = "POST"
  var path = "/3/device/" + Self.token
  var body: String? = "{\"aps\":{\"alert\":\"hello\"}}"
  var headers: [(String, String)]

  init(script: SimulatorScript = SimulatorScript(), environment: PushEnvironment = .production) {
    let verification = try! VerificationKey(pem: key.publicPEM, name: "test key")
    let known = KnownAPNsKey(keyID: "KEY4567890", teamID: "TEAM567890", file: "")
    networks = PushNetworks(
      script: script,
      apns: APNsNetwork(
        environment: environment, provider: ProviderTokenVerifier(keys: [(known, verification)]),
        topics: ["com.example.shop"]))
    connection = networks.memory(ofConnection: 0)
    headers = []
    setHeader("apns-topic", "com.example.shop")
    setHeader("apns-push-type", "alert")
    setHeader("authorization", "bearer " + providerToken())
  }

  func providerToken(
    keyID: String = "KEY4567890", teamID: String = "TEAM567890", age: Int64 = 60
  ) -> String {
    key.providerToken(keyID: keyID, teamID: teamID, issuedAt: Self.now - age)
  }

  /// What the networks have counted.
  var counters: SimulatorCounters {
    var counters = SimulatorCounters()
    networks.note(in: &counters)
    return counters
  }

  mutating func setHeader(_ name: String, _ value: String?) {
    headers.removeAll { $0.0 == name }
    if let value { headers.append((name, value)) }
  }

  /// Status and reason of the answer; the reason is "" when there is no body.
  mutating func send(at now: Int64 = Self.now) -> String {
    guard case .answer(let answer) = decide(at: now).reaction else { return "no answer" }
    let body = String(decoding: answer.body, as: UTF8.self)
    guard !body.isEmpty else { return "\(answer.status)" }
    let reason = try? JSONParser().parse(body).objectValue?["reason"]?.stringValue
    return "\(answer.status) \(reason ?? body)"
  }

  mutating func decide(at now: Int64 = Self.now) -> Decision {
    var bytes: [UInt8] = []
    func place(_ text: String) -> Range<Int> {
      bytes.append(contentsOf: text.utf8)
      return bytes.count - text.utf8.count..<bytes.count
    }
    let methodRange = place(method)
    let pathRange = place(path)
    let fieldRanges = headers.map { (place($0.0), place($0.1)) }
    let bodyRange = body.map { place($0) }
    return bytes.withUnsafeBytes { bytes in
      var request = IncomingRequest(
        method: bytes.taking(methodRange), path: bytes.taking(pathRange), headers: NetworkHeaders(),
        body: bodyRange.map { bytes.taking($0) })
      for (name, value) in fieldRanges {
        request.headers.take(bytes.taking(name), bytes.taking(value))
      }
      return networks.decide(request, &connection, nowSeconds: now)
    }
  }
}

extension PushNetworks {
  /// Those that a test says nothing of know no accounts.
  init(
    script: SimulatorScript = SimulatorScript(),
    apns: APNsNetwork = APNsNetwork(
      environment: .production, provider: ProviderTokenVerifier(keys: [])),
    oauth: OAuthEndpoint = OAuthEndpoint(accounts: []),
    secrets: [String: String] = [:]
  ) {
    self.init(
      script: script, apns: apns, fcm: FCMNetwork(oauth: oauth),
      jpush: JPushNetwork(apps: JPushApps(secrets: secrets)))
  }
}
