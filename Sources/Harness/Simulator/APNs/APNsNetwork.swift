internal import Model

/// The simulated APNs.
struct APNsNetwork: PlayedNetwork {
  static let network = Network.apns
  static let paths = ["POST /3/device/<token>                     APNs"]

  private let environment: PushEnvironment
  private let topics: [String]
  private var provider: ProviderTokenVerifier
  private var developmentPrefix: [UInt8]?

  /// - Parameter topics: the bundle IDs that may be pushed to; empty allows every one.
  init(environment: PushEnvironment, provider: ProviderTokenVerifier, topics: [String] = []) {
    self.environment = environment
    self.provider = provider
    self.topics = topics
  }

  init(
    _ accounts: NetworkAccounts, environment: PushEnvironment
  ) throws(SimulatorError) {
    var keys: [(KnownAPNsKey, VerificationKey)] = []
    for key in accounts.apnsKeys {
      let verification = try VerificationKey(pem: BoundedFile.key(key.file), name: key.file)
      guard verification.isEllipticCurve else {
        throw SimulatorError(
          .configuration, "\(key.file) is no elliptic-curve key: ES256 needs one on P-256")
      }
      keys.append((key, verification))
    }
    self.init(
      environment: environment, provider: ProviderTokenVerifier(keys: keys),
      topics: accounts.topics)
  }

  /// How many provider tokens were verified.
  var verifications: Int { provider.verifications }

  mutating func install(_ script: APNsScript) {
    developmentPrefix = script.developmentTokenPrefix.map { Array($0.utf8) }
    provider.intervalSeconds = script.providerTokenIntervalSeconds
  }

  /// The memory of a new connection.
  var newMemory: APNsMemory { APNsMemory(validator: APNsValidator(topics: topics)) }

  mutating func decide(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory,
    _ answers: inout ScriptedAnswers, nowSeconds: Int64
  ) -> Decision {
    // Looked at first, because any request with a good credential raises the stream limit.
    let refusal = authorise(request.headers.authorization, &connection, nowSeconds: nowSeconds)
    do throws(APNsReason) {
      let token = try APNsValidator.token(method: request.method, path: request.path)
      let headers = request.headers.apns
      try connection.apns.validator.check(headers)
      var bodyHash: UInt64 = 0
      if let body = request.body {
        bodyHash = try connection.apns.validator.check(payload: body)
      }
      if let refusal { throw refusal }
      try checkEnvironment(token)
      let acceptance = Acceptance(
        network: Self.network, token: token, topic: headers.topic!, bodyHash: bodyHash)
      return answers.react(to: acceptance, at: Self.self, ordinary: .apnsAccepted)
    } catch {
      return .answer(.apns(error))
    }
  }

  private mutating func authorise(
    _ authorization: UnsafeRawBufferPointer?, _ connection: inout ConnectionMemory,
    nowSeconds: Int64
  ) -> APNsReason? {
    guard let authorization else {
      guard connection.hasClientCertificate else { return .missingProviderToken }
      connection.isAuthorised = true
      return nil
    }
    if connection.apns.providerToken == nil || !connection.authorization.matches(authorization) {
      do {
        connection.apns.providerToken = nil
        connection.apns.providerToken = try provider.token(
          for: authorization, nowSeconds: nowSeconds)
        connection.authorization.remember(authorization)
      } catch {
        return error
      }
    }
    guard let token = connection.apns.providerToken else { return .invalidProviderToken }
    if let refusal = provider.check(token, nowSeconds: nowSeconds) { return refusal }
    if !connection.isAuthorised {
      connection.isAuthorised = true
      connection.apns.teamID = token.owner.teamID
    }
    return connection.apns.teamID == token.owner.teamID ? nil : .invalidProviderToken
  }

  private func checkEnvironment(_ token: UnsafeRawBufferPointer) throws(APNsReason) {
    guard let developmentPrefix else { return }
    guard token.starts(with: developmentPrefix) == (environment == .development) else {
      throw .badDeviceToken
    }
  }

  static func body(
    of rule: ScriptRule, status: Int, reason: String, token: UnsafeRawBufferPointer
  ) -> [UInt8] {
    var object: JSONObject = ["reason": .string(reason)]
    if let timestampMs = rule.timestampMs { object["timestamp"] = .integer(timestampMs) }
    return JSONValue.object(object).bytes()
  }
}

/// A token signing key that the simulated APNs knows.
package struct KnownAPNsKey: Sendable, Equatable {
  /// The 10 characters that the token's header names as `kid`.
  package let keyID: String
  /// The team that the token must claim as `iss`.
  package let teamID: String
  /// The .p8 file, or a PEM file with its public half only.
  package let file: String

  package init(keyID: String, teamID: String, file: String) {
    self.keyID = keyID
    self.teamID = teamID
    self.file = file
  }
}

/// The memory that APNs has of a connection.
struct APNsMemory {
  /// A connection is bound to the team of its first push.
  var teamID: String?
  var providerToken: ProviderToken?
  var validator: APNsValidator
}

extension Answer {
  /// APNs' answer to an accepted push: no body.
  static let apnsAccepted = Answer(status: 200)

  private static let reasonAnswers: [APNsReason: Answer] = Dictionary(
    uniqueKeysWithValues: APNsReason.allCases.map {
      ($0, Answer(status: $0.status, body: Array("{\"reason\":\"\($0.rawValue)\"}".utf8)))
    })

  static func apns(_ reason: APNsReason) -> Answer { reasonAnswers[reason]! }
}
