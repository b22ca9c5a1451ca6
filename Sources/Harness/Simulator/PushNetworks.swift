internal import LocalServices
internal import Model

// The registry of this module: a network that is played here is a type of its own, which is named here, with the accounts that
// it knows, its part of a script, and its memory of a connection.

/// The simulated networks behind one port, told apart by path: decide about requests, know nothing of sockets.
struct PushNetworks {
  private(set) var script: SimulatorScript
  private var answers: ScriptedAnswers
  private var apns: APNsNetwork
  private var fcm: FCMNetwork
  private var jpush: JPushNetwork

  init(
    script: SimulatorScript, apns: APNsNetwork, fcm: FCMNetwork, jpush: JPushNetwork
  ) {
    self.script = script
    answers = ScriptedAnswers(script)
    self.apns = apns
    self.fcm = fcm
    self.jpush = jpush
    install(script)
  }

  /// - Throws: the first key or account that cannot be used.
  init(_ options: SimulatorOptions, script: SimulatorScript) throws(SimulatorError) {
    self.init(
      script: script,
      apns: try APNsNetwork(options.accounts, environment: options.environment),
      fcm: try FCMNetwork(options.accounts), jpush: try JPushNetwork(options.accounts))
  }

  /// Takes another script; what is left of the old one's `times` is forgotten.
  mutating func install(_ script: SimulatorScript) {
    self.script = script
    answers = ScriptedAnswers(script)
    apns.install(script.networks.apns)
    fcm.install(script.networks.fcm, exchange: script.oauth)
    jpush.install(script.networks.jpush)
  }

  /// The one who answers to a path.
  private enum Player {
    case network(Network)
    case oauth

    init(path: UnsafeRawBufferPointer) {
      if path.starts(with: FCMPath.prefix) {
        self = .network(.fcm)
      } else if path.starts(with: JPushNetwork.prefix) {
        self = .network(.jpush)
      } else if path.equals(FCMNetwork.tokenPath) {
        self = .oauth
      } else {
        self = .network(.apns)
      }
    }
  }

  mutating func decide(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) -> Decision {
    answers.connection = connection.number
    return switch Player(path: request.path) {
    case .network(.apns): apns.decide(request, &connection, &answers, nowSeconds: nowSeconds)
    case .network(.fcm): fcm.decide(request, &connection, &answers, nowSeconds: nowSeconds)
    case .network(.jpush): jpush.decide(request, &connection, &answers, nowSeconds: nowSeconds)
    case .oauth: fcm.exchange(request, &connection, nowSeconds: nowSeconds)
    }
  }

  /// The memory of a new connection.
  func memory(ofConnection number: Int) -> ConnectionMemory {
    ConnectionMemory(number: number, apns: apns.newMemory)
  }

  /// Writes down what the networks have counted.
  func note(in counters: inout SimulatorCounters) {
    counters.bearerTokensIssued = fcm.bearerTokensIssued
    counters.providerTokenVerifications = apns.verifications
    counters.dryRuns = fcm.dryRuns + jpush.dryRuns
    counters.repeatedRequests = jpush.repeats.requests
    counters.repeatedPushes = jpush.repeats.pushes
  }

  // MARK: For whoever watches

  /// Returns the name of the one who answers to a path, and whether requests to it are as good as a password while they live.
  static func player(at path: UnsafeRawBufferPointer) -> (name: String, takesSecrets: Bool) {
    switch Player(path: path) {
    case .network(let network): (network.rawValue, false)
    case .oauth: ("oauth", true)
    }
  }

  /// The header fields that say something of a push; credentials are none of them.
  static let shownHeaders = APNsHeaders.names
}

extension Simulator {
  /// The requests that it answers, in lines for the help.
  package static let paths = APNsNetwork.paths + FCMNetwork.paths + JPushNetwork.paths
}

/// The accounts that the networks know. A network without any takes every credential.
package struct NetworkAccounts: Sendable, Equatable {
  /// APNs signing keys; without any, every signature passes.
  package var apnsKeys: [KnownAPNsKey] = []
  /// The bundle IDs that may be pushed to over APNs; empty allows every one.
  package var topics: [String] = []
  /// Service account files; without any, every bearer token passes and the endpoint issues none.
  package var serviceAccountFiles: [String] = []
  /// JPush's apps; without any, every app key and secret passes.
  package var jpushApps: [KnownJPushApp] = []

  package init() {}
}

/// The parts of a script that are for one network each.
package struct NetworkScripts: Sendable, Equatable {
  package var apns = APNsScript()
  package var fcm = FCMScript()
  package var jpush = JPushScript()

  static let fieldNames = APNsScript.fieldNames + FCMScript.fieldNames + JPushScript.fieldNames

  /// The fields and what they mean, in lines for the help.
  package static let help = APNsScript.help + FCMScript.help + JPushScript.help

  init() {}

  init(_ fields: ScriptFields) throws(InvalidField) {
    apns = try APNsScript(fields)
    fcm = try FCMScript(fields)
    jpush = try JPushScript(fields)
  }
}

/// The header fields of a request that the networks look at; the buffers live as long as the request.
struct NetworkHeaders {
  var apns = APNsHeaders()

  var authorization: UnsafeRawBufferPointer? { apns.authorization }

  mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    apns.take(name, value)
  }
}

/// The memory that the networks have of one connection.
struct ConnectionMemory {
  /// Counted from 1 as connections are opened.
  var number = 0
  var hasClientCertificate = false
  /// Whether a request showed a valid credential: then the stream limit rises.
  var isAuthorised = false
  var authorization = RememberedBytes()
  var apns: APNsMemory
  var fcmBearer: BearerTokens.Grant?
  var jpushAppKey: String?
}
