/// The options of a stage that a row wants.
struct StageOptions: Sendable {
  /// The installations of the first app. No token of theirs begins as those that a script singles out. The lesser
  /// configuration has no credentials for those for development.
  var crowd: Crowd
  var redis = RedisOptions()
  var workers: Int
  var lanes = ChaosLimits.lanes
  var connections = ChaosLimits.connections
  var streams = ChaosLimits.streams
  var leaseSeconds = ChaosLimits.leaseSeconds
  var unroutedSeconds = ChaosLimits.unroutedSeconds
  var requestTimeoutSeconds = ChaosLimits.requestTimeoutSeconds
  var answerMs = ChaosLimits.answerMs
  /// Apps beside the first.
  var otherApps: [String] = []
  /// The hosts of apps' push networks, where they are not `localhost`.
  var hosts: [String: String] = [:]
  /// The apps that the lesser configuration lacks, which some workers may be started with.
  var lesserLack: [String] = []
  /// Apps beside those, which have FCM alone.
  var fcmApps: [String] = []
  /// Whether the networks know a second signing key under the id of the first, and a second account of the Firebase project:
  /// those of `SharedConfiguration`.
  var hasSecondKeys = false
  /// Whether workers know apps that stand in Redis, by `SharedConfiguration.sealingKeyFile`.
  var hasTenants = false
  /// Whether a fault proxy stands between the workers and the networks.
  var hasProviderProxy = false
  /// Whether the other apps go to the networks without it.
  var sparesOtherApps = false

  init(users: Int = ChaosLimits.usersDefault, workers: Int = 3) {
    crowd = Crowd(app: ChaosStage.app, count: users, prefix: "c0")
    self.workers = workers
  }

  /// How many installations the crowd has.
  var users: Int {
    get { crowd.count }
    set { crowd.count = newValue }
  }

  /// The script of a provider in health.
  var health: String { script() }

  /// A script with further members, such as `"goaway_after": 50`.
  func script(_ members: String = "") -> String {
    let more = members.isEmpty ? "" : ", \(members)"
    return #"{"provider_token_interval_seconds": 0, "delay_ms": \#(answerMs)\#(more)}"#
  }

  /// The most requests that one worker can have in flight.
  var inFlightMax: Int { lanes * connections * streams }

  /// The most pushes that one worker can have in hand: in flight, or done and not told to Redis.
  var inHandMax: Int { lanes * ChaosLimits.inHandPerLane }
}
