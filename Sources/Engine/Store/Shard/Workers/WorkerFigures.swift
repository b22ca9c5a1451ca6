package import Model
package import Reactor

/// The figures of a worker for monitors, since it started. They stand in its HASH beside what status shows, and are told every
/// few seconds. A worker of an older version tells none.
package struct WorkerFigures: Sendable, Equatable {
  /// The connections to one network, of all apps.
  package struct Connections: Sendable, Equatable {
    /// Requests that were submitted and have not ended.
    package var streamsUsed = 0
    /// Requests that the connections which stand may carry at once.
    package var streamsAllowed = 0
    package var count = 0
    /// Connections that the network ended by GOAWAY.
    package var goAways = 0

    package init() {}

    package static func += (sum: inout Connections, more: Connections) {
      sum.streamsUsed += more.streamsUsed
      sum.streamsAllowed += more.streamsAllowed
      sum.count += more.count
      sum.goAways += more.goAways
    }
  }

  /// Time of all processors, in user and system mode.
  package var cpuMs = 0
  package var openFiles = 0
  /// How many files it may open; 0 when that is not known.
  package var openFilesMax = 0
  /// By network, of those that were used.
  package var connections: [Network: Connections] = [:]
  /// How long requests took that were answered, by network.
  package var answers: [Network: DurationHistogram] = [:]
  /// How long Redis's answers took.
  package var redis: DurationHistogram?
  /// How long lanes took to answer a question of their own process, each second.
  package var lag: DurationHistogram?

  package init() {}

  /// Adds what another lane of the process has.
  package static func += (sum: inout WorkerFigures, more: WorkerFigures) {
    for (network, connections) in more.connections {
      sum.connections[network, default: Connections()] += connections
    }
    for (network, times) in more.answers { add(times, to: &sum.answers[network]) }
    if let times = more.redis { add(times, to: &sum.redis) }
    if let times = more.lag { add(times, to: &sum.lag) }
  }

  private static func add(_ more: DurationHistogram, to sum: inout DurationHistogram?) {
    if sum == nil { sum = more } else { sum? += more }
  }

  // MARK: In the worker's HASH

  private static let connectionsField = "networks"
  private static let redisField = "redis_times"
  private static let lagField = "loop_lag"
  private static func answersField(_ network: Network) -> String { "answers_\(network.rawValue)" }

  /// Whether a field of a worker's HASH is one of these that people do not read.
  package static func isForMonitors(_ field: String) -> Bool {
    field == connectionsField || field == redisField || field == lagField
      || Network.allCases.contains { answersField($0) == field }
  }

  /// The fields of the worker's HASH.
  package var fields: [(String, String)] {
    var fields = [
      ("cpu_ms", String(cpuMs)), ("open_files", String(openFiles)),
      ("open_files_max", String(openFilesMax)),
    ]
    let networks = Network.allCases.compactMap { network in
      connections[network].map {
        "\(network.rawValue):\($0.streamsUsed)/\($0.streamsAllowed)/\($0.count)/\($0.goAways)"
      }
    }
    if !networks.isEmpty {
      fields.append((Self.connectionsField, networks.joined(separator: " ")))
    }
    for network in Network.allCases {
      if let times = answers[network] { fields.append((Self.answersField(network), times.text)) }
    }
    if let redis { fields.append((Self.redisField, redis.text)) }
    if let lag { fields.append((Self.lagField, lag.text)) }
    return fields
  }

  /// Reads what a worker says of itself. Nil when it says nothing of these; what it does not say, or not so that it can be read, is
  /// left out.
  package init?(_ fields: [String: String]) {
    guard let cpuMs = Self.count(fields["cpu_ms"]) else { return nil }
    self.cpuMs = cpuMs
    openFiles = Self.count(fields["open_files"]) ?? 0
    openFilesMax = Self.count(fields["open_files_max"]) ?? 0
    for word in (fields[Self.connectionsField] ?? "").split(separator: " ").prefix(
      Network.allCases.count)
    {
      guard let (network, connections) = Self.connections(word) else { continue }
      self.connections[network] = connections
    }
    for network in Network.allCases {
      answers[network] = fields[Self.answersField(network)].flatMap { DurationHistogram(text: $0) }
    }
    redis = fields[Self.redisField].flatMap { DurationHistogram(text: $0) }
    lag = fields[Self.lagField].flatMap { DurationHistogram(text: $0) }
  }

  private static func connections(_ word: Substring) -> (Network, Connections)? {
    let parts = word.split(separator: ":")
    guard parts.count == 2, let network = Network(rawValue: String(parts[0])) else { return nil }
    let numbers = parts[1].split(separator: "/").compactMap { count(String($0)) }
    guard numbers.count == 4 else { return nil }
    var connections = Connections()
    connections.streamsUsed = numbers[0]
    connections.streamsAllowed = numbers[1]
    connections.count = numbers[2]
    connections.goAways = numbers[3]
    return (network, connections)
  }

  private static func count(_ text: String?) -> Int? {
    guard let number = text.flatMap({ Int($0) }), number >= 0 else { return nil }
    return StoredNumber.count(number)
  }
}
