internal import Model
internal import Store

extension RedisSettings {
  /// The settings on one line.
  var summary: String {
    let file = hasAppendOnlyFile.map { $0 ? "append-only file on" : "append-only file off" }
    let others =
      replicas == 0
      ? nil
      : (replicas == 1 ? "1 replica" : "\(replicas) replicas")
        + (awaitsReplicas ? ", awaited" : ", not awaited")
    let parts = [
      isReplica ? "replica" : "primary", file, policy.map { "maxmemory-policy \($0)" }, others,
    ]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }
}
