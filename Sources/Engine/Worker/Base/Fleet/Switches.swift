internal import Model
internal import Store

/// The switches that are off, in the form in which a lane asks for them.
struct Switches {
  private var apps: Set<String> = []
  private var networks: [String: Set<Network>] = [:]
  /// By app, as bytes: names are told apart as Redis does.
  private var users: [String: Set<[UInt8]>] = [:]
  private var buckets: [String: Set<[UInt8]>] = [:]
  private var topics: [String: Set<[UInt8]>] = [:]
  let isEmpty: Bool

  init() { isEmpty = true }

  init(_ reading: SwitchReading) {
    isEmpty = reading.entries.isEmpty
    for entry in reading.entries {
      switch entry.killSwitch {
      case .app(let app): apps.insert(app)
      case .network(let app, let network): networks[app, default: []].insert(network)
      case .user(let app, let user): users[app, default: []].insert(Array(user.utf8))
      case .bucket(let app, let bucket): buckets[app, default: []].insert(Array(bucket.utf8))
      case .topic(let app, let topic): topics[app, default: []].insert(Array(topic.utf8))
      }
    }
  }

  /// Whether everything of the app is off, or everything about the bucket that a job tells of or the topic that it goes to.
  func stops(app: String, bucket: String?, topic: String? = nil) -> Bool {
    if apps.contains(app) { return true }
    if let bucket, let off = buckets[app], off.contains(Array(bucket.utf8)) { return true }
    if let topic, let off = topics[app], off.contains(Array(topic.utf8)) { return true }
    return false
  }

  /// Whether a network of the app is off.
  func stops(app: String, _ network: Network) -> Bool {
    networks[app]?.contains(network) == true
  }

  /// Whether nothing is sent to a user of the app for the user's sake.
  func stops(app: String, user: UnsafeRawBufferPointer) -> Bool {
    users[app]?.contains(Array(user)) == true
  }
}
