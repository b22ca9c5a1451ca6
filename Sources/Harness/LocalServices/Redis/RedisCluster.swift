/// A real Redis Cluster of one's own on 127.0.0.1: three masters, which serve a third of the slots each, and replicas of the one
/// that serves a key. It is gone, with its data, when the body of ``with(_:_:)`` has returned.
package struct RedisCluster: Sendable {
  /// The shape of a cluster.
  package struct Options: Sendable {
    /// The key, such as a hash tag, whose slot all of ours are in.
    package var key: String
    /// Replicas of the master that serves it.
    package var replicas = 0
    /// The properties of each node beside its being one.
    package var node = RedisServer.Options()

    package init(key: String) { self.key = key }
  }

  private static let mastersCount = 3
  private static let slotsCount = 16_384
  /// How long anything of a cluster may take: nodes tell one another within a second or two.
  private static let patienceMs: UInt64 = 60_000
  private static let takeoverPatience = Duration.seconds(6)
  private static let pollMs: UInt64 = 20

  package let key: String
  /// The key's slot.
  package let slot: String
  /// The masters, and then the replicas, as they are at first.
  package let nodes: [RedisServer]

  /// Runs the body beside a cluster that serves, and whose replicas keep up.
  package static func with<Value>(
    _ options: Options, _ body: (RedisCluster) async throws -> Value
  ) async throws -> Value {
    var nodes: [RedisServer] = []
    do {
      for _ in 0..<mastersCount + options.replicas {
        nodes.append(try await RedisServer.start(options.node.asClusterNode))
      }
      let slot = try await nodes[0].command("CLUSTER", "KEYSLOT", options.key)
      let cluster = RedisCluster(
        key: options.key, slot: slot.filter { !$0.isNewline }, nodes: nodes)
      try await cluster.join(replicas: options.replicas)
      let value = try await body(cluster)
      for node in nodes { await node.close() }
      return value
    } catch {
      for node in nodes { await node.close() }
      throw error
    }
  }

  /// The URL for the configuration that names these nodes.
  package static func url(_ nodes: [RedisServer]) -> String {
    "redis+cluster://" + nodes.compactMap(\.port).map { "127.0.0.1:\($0)" }.joined(separator: ",")
  }

  /// The URL that names all of them.
  package var url: String { Self.url(nodes) }

  // MARK: Its nodes

  /// The node that serves the key by its own word; nil while none does.
  package func owner() async throws -> RedisServer? {
    for node in nodes {
      let answer = try await node.command("EXISTS", key)
      if ["0", "1"].contains(answer.filter { !$0.isNewline }) { return node }
    }
    return nil
  }

  /// Waits until a node serves the key, and a replica keeps up with it.
  package func settle() async throws -> (owner: RedisServer, replica: RedisServer) {
    var found: (RedisServer, RedisServer)?
    try await wait("a replica keeps up with the node that serves the key") {
      guard let owner = try await owner(), await owner.hasReplica() else { return false }
      for node in nodes where node.port != owner.port {
        let info = try await node.command("INFO", "replication")
        guard info.contains("master_port:\(owner.port ?? 0)\r\n") else { continue }
        guard info.contains("master_link_status:up") else { return false }
        found = (owner, node)
      }
      return found != nil
    }
    guard let found else { throw LocalServiceError("the cluster has no replica") }
    return found
  }

  /// Waits until that node serves the key.
  package func waitForTakeover(by node: RedisServer) async throws {
    try await wait("another node serves the key") { try await owner()?.port == node.port }
  }

  /// Has a replica take over, and waits until it serves the key. It gives up by itself when its master's writes do not end within
  /// 5 s (`CLUSTER FAILOVER` of Redis's documents), so it is asked again.
  package func takeOver(with replica: RedisServer) async throws {
    var askedAt: ContinuousClock.Instant?
    try await wait("another node serves the key") {
      if try await owner()?.port == replica.port { return true }
      if askedAt.map({ ContinuousClock.now - $0 > Self.takeoverPatience }) ?? true {
        askedAt = .now
        try await replica.command("CLUSTER", "FAILOVER")
      }
      return false
    }
  }

  /// The name by which the nodes know one of them.
  func id(of node: RedisServer) async throws -> String {
    try await node.command("CLUSTER", "MYID").filter { !$0.isNewline }
  }

  /// Asks again and again, a bounded time.
  func wait(_ what: String, _ isSo: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .milliseconds(Self.patienceMs)
    while try await !isSo() {
      guard ContinuousClock.now < deadline else {
        throw LocalServiceError("of a cluster it never happened: \(what)")
      }
      try await ContinuousClock().sleep(for: .milliseconds(Self.pollMs))
    }
  }

  // MARK: Making it

  private func join(replicas: Int) async throws {
    let masters = nodes.prefix(Self.mastersCount)
    for (number, node) in nodes.enumerated() {
      // Else they must find out first that none of them is newer.
      try await node.command("CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
    }
    for (number, master) in masters.enumerated() {
      let (first, next) = (Self.firstSlot(number), Self.firstSlot(number + 1))
      try await master.command("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(next - 1)")
    }
    for node in nodes.dropFirst() {
      try await nodes[0].command("CLUSTER", "MEET", "127.0.0.1", "\(node.port ?? 0)")
    }
    for node in nodes {
      try await wait("a node knows the others") {
        let info = try await node.command("CLUSTER", "INFO")
        return info.contains("cluster_state:ok\r\n")
          && info.contains("cluster_known_nodes:\(nodes.count)\r\n")
          && info.contains("cluster_size:\(Self.mastersCount)\r\n")
      }
    }
    guard replicas > 0 else { return }
    try await follow(nodes.suffix(replicas))
  }

  private func follow(_ replicas: ArraySlice<RedisServer>) async throws {
    guard let owner = try await owner() else { throw LocalServiceError("no node serves \(key)") }
    let id = try await id(of: owner)
    for replica in replicas {
      try await wait("a node follows another") {
        try await replica.command("CLUSTER", "REPLICATE", id).hasPrefix("OK")
      }
    }
    // The masters vote for a replica that they know.
    for node in nodes {
      try await wait("a node knows the replicas") {
        let lines = try await node.command("CLUSTER", "NODES").split(whereSeparator: \.isNewline)
        return lines.count { $0.contains("slave \(id) ") } == replicas.count
      }
    }
    _ = try await settle()
  }

  private static func firstSlot(_ master: Int) -> Int { slotsCount * master / mastersCount }
}

extension RedisServer.Options {
  /// The same as a node of a cluster, which serves no slot until it is told to.
  package var asClusterNode: RedisServer.Options {
    var options = self
    options.tcp = true
    options.configuration += [
      "cluster-enabled yes", "cluster-config-file nodes.conf", "cluster-announce-ip 127.0.0.1",
      "cluster-node-timeout 2000", "cluster-replica-validity-factor 0",
      "repl-diskless-sync-delay 0",
    ]
    return options
  }
}
