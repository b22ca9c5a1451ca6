package import Model

/// How a Redis is set up, as far as it concerns what it keeps: what INFO tells, which a managed Redis allows, and what
/// CONFIG GET adds where that is allowed.
package struct RedisSettings: Sendable, Equatable {
  /// A setting that costs work, and what it costs, for a person.
  package struct Finding: Sendable, Equatable {
    package let risk: RedisRisk
    /// Names the setting, what it costs and what to do.
    package let sentence: String
  }

  /// `used_memory`, bytes; 0 when the server does not tell.
  package private(set) var memoryBytes = 0
  /// `maxmemory`; 0 for no limit.
  package private(set) var memoryBytesMax = 0
  /// `total_system_memory`; 0 when the server does not tell.
  package private(set) var systemBytes = 0
  /// Keys with a time to live, of all databases.
  package private(set) var expiringKeys = 0
  /// `maxmemory-policy`; nil when the server does not tell.
  package private(set) var policy: String?
  /// Keys that were evicted since the server started.
  package private(set) var evictedKeys = 0
  /// Nil when the server does not tell.
  package private(set) var hasAppendOnlyFile: Bool?
  package private(set) var isReplica = false
  package private(set) var replicas = 0
  /// The replicas that keep up; nil when writes are not refused for want of them: only then INFO counts them.
  package private(set) var goodReplicas: Int?
  /// `save` of the configuration, empty for no snapshots; nil when that may not be asked.
  package var savePoints: String?

  /// - Parameter info: the reply to INFO with the sections memory, persistence, replication, stats and keyspace.
  package init(info: String) {
    for line in info.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let value = String(parts[1])
      switch parts[0] {
      case "used_memory": memoryBytes = max(0, Int(value) ?? 0)
      case "total_system_memory": systemBytes = max(0, Int(value) ?? 0)
      case let name where name.hasPrefix("db"): note(keyspace: value)
      case "maxmemory": memoryBytesMax = max(0, Int(value) ?? 0)
      case "maxmemory_policy": policy = Self.word(value)
      case "evicted_keys": evictedKeys = max(0, Int(value) ?? 0)
      case "aof_enabled": hasAppendOnlyFile = value == "1"
      case "role": isReplica = value == "slave"
      case "connected_slaves": replicas = max(0, Int(value) ?? 0)
      case "min_slaves_good_slaves": goodReplicas = max(0, Int(value) ?? 0)
      default: break
      }
    }
  }

  /// Adds what a line such as `keys=7,expires=5,avg_ttl=0` tells.
  private mutating func note(keyspace: String) {
    for figure in keyspace.split(separator: ",") where figure.hasPrefix("expires=") {
      let count = max(0, Int(figure.dropFirst("expires=".count)) ?? 0)
      let (sum, isTooLarge) = expiringKeys.addingReportingOverflow(count)
      expiringKeys = isTooLarge ? .max : sum
    }
  }

  /// A policy as the server names it; nil for what is no word of its configuration.
  private static func word(_ text: String) -> String? {
    guard !text.isEmpty, text.utf8.count <= StoreLimits.policyBytesMax,
      TextRule.isWord(text, others: "-")
    else { return nil }
    return text
  }

  package var awaitsReplicas: Bool { goodReplicas != nil }

  /// Whether every write is refused because no replica keeps up.
  var lacksAllReplicas: Bool { goodReplicas == 0 && !isReplica }

  /// Whether any key may go when the memory is full, installations and jobs included: work is surely lost then.
  package var evictsAnyKey: Bool { memoryBytesMax > 0 && policy?.hasPrefix("allkeys-") == true }

  /// The unsafe settings, the worst first. Evictions of late are not among them: two readings must be compared for
  /// that.
  package var findings: [Finding] {
    [eviction, replica, noAppendOnlyFile, unawaitedReplicas].compactMap { $0 }
  }

  /// Returns the findings that are unsafe and not accepted.
  package func risks(accepting accepted: Set<RedisRisk>) -> [Finding] {
    findings.filter { !accepted.contains($0.risk) }
  }

  /// Returns the finding that keys were evicted within the last hour.
  package static func evicted(_ count: Int) -> Finding {
    Finding(
      risk: .evicted,
      sentence: "Redis has evicted \(count) \(count == 1 ? "key" : "keys") within the last hour, "
        + "and installations and jobs may be among them: set maxmemory-policy noeviction, give "
        + "Redis memory, and run pushpool index for each app")
  }

  private var eviction: Finding? {
    guard let policy, policy != "noeviction" else { return nil }
    let which =
      policy.hasPrefix("volatile-")
      ? "deletes keys that have a time to live, such as the recipients of running jobs"
      : "deletes installations and jobs"
    let now =
      memoryBytesMax == 0
      ? "as soon as it has a maxmemory that is reached"
      : "when its memory is full"
    let so = evictedKeys > 0 ? " (\(evictedKeys) keys since it started)" : ""
    return Finding(
      risk: .eviction,
      sentence: "Redis has maxmemory-policy \(policy): it \(which) \(now)\(so); set "
        + "maxmemory-policy noeviction")
  }

  private var replica: Finding? {
    guard isReplica else { return nil }
    return Finding(
      risk: .replica,
      sentence: "Redis is a replica: it refuses what is written, or loses it when it next copies "
        + "its primary; name the primary in redis.url")
  }

  private var noAppendOnlyFile: Finding? {
    guard hasAppendOnlyFile == false else { return nil }
    let cost =
      savePoints == ""
      ? "a crash or a restart loses everything, for it takes no snapshots either (save \"\")"
      : "a crash loses what came after its last snapshot"
    return Finding(
      risk: .noAppendOnlyFile,
      sentence: "Redis has appendonly no: \(cost); set appendonly yes")
  }

  private var unawaitedReplicas: Finding? {
    guard !isReplica, replicas > 0, !awaitsReplicas else { return nil }
    return Finding(
      risk: .unawaitedReplicas,
      sentence: "Redis has \(replicas) \(replicas == 1 ? "replica" : "replicas") and "
        + "min-replicas-to-write 0: cut off from them it goes on taking work that a failover "
        + "loses; set min-replicas-to-write 1 and min-replicas-max-lag 10")
  }
}
