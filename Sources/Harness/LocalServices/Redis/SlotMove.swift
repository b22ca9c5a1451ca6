/// The move of a cluster's slot, that of its key, to another of its nodes, step by step as the tools of Redis do it
/// (redis.io, "Redis cluster specification", Live reconfiguration).
package struct SlotMove: Sendable {
  private let cluster: RedisCluster
  package let source: RedisServer
  package let target: RedisServer
  private let targetID: String

  /// Begins it: from now on the source sends clients on that ask for a key of the slot that it does not have (ASK).
  package static func begin(
    _ cluster: RedisCluster, to target: RedisServer
  ) async throws -> SlotMove {
    guard let source = try await cluster.owner(), source.port != target.port else {
      throw LocalServiceError("no other node serves \(cluster.key)")
    }
    let move = SlotMove(
      cluster: cluster, source: source, target: target, targetID: try await cluster.id(of: target))
    let sourceID = try await cluster.id(of: source)
    try await move.set(target, "IMPORTING", sourceID)
    try await move.set(source, "MIGRATING", move.targetID)
    return move
  }

  /// Moves some keys.
  /// - Returns: how many; fewer than were wanted when none are left.
  /// - Throws: when one cannot be moved, as when the target has another of its name (BUSYKEY).
  package func moveKeys(_ count: Int) async throws -> Int {
    let listed = try await source.command("CLUSTER", "GETKEYSINSLOT", cluster.slot, "\(count)")
    let keys = listed.split(whereSeparator: \.isNewline).map(String.init)
    guard !keys.isEmpty else { return 0 }
    let place = ["127.0.0.1", "\(target.port ?? 0)", "", "0", "30000"]
    let answer = try await source.command(["MIGRATE"] + place + ["KEYS"] + keys)
    guard answer.hasPrefix("OK") || answer.hasPrefix("NOKEY") else {
      throw LocalServiceError("keys of the slot cannot be moved: \(answer)")
    }
    return keys.count
  }

  /// Moves what is left, so many keys at a time.
  package func moveAll(_ count: Int) async throws {
    while try await moveKeys(count) > 0 {}
  }

  /// Ends it: the target serves the slot, and all nodes know it.
  package func end() async throws {
    for node in [target, source] { try await set(node, "NODE", targetID) }
    for node in cluster.nodes {
      try await cluster.wait("a node knows who serves the slot") {
        let answer = try await node.command("EXISTS", cluster.key)
        return node.port == target.port
          ? !answer.hasPrefix("MOVED") : answer.contains(":\(target.port ?? 0)")
      }
    }
  }

  /// The keys of the slot that a node has.
  package func count(at node: RedisServer) async throws -> Int {
    let answer = try await node.command("CLUSTER", "COUNTKEYSINSLOT", cluster.slot)
    return Int(answer.filter { !$0.isNewline }) ?? 0
  }

  private func set(_ node: RedisServer, _ change: String, _ id: String) async throws {
    let answer = try await node.command("CLUSTER", "SETSLOT", cluster.slot, change, id)
    guard answer.hasPrefix("OK") else {
      throw LocalServiceError("the slot cannot be moved: \(answer)")
    }
  }
}
