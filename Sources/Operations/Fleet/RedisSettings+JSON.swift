package import Model
package import Store

extension RedisSettings {
  /// - Parameter accepted: risks that the configuration accepts.
  package func json(accepting accepted: Set<RedisRisk>) -> JSONValue {
    let risks = findings.map { finding in
      JSONValue.object([
        "risk": .string(finding.risk.rawValue),
        "accepted": .bool(accepted.contains(finding.risk)), "message": .string(finding.sentence),
      ])
    }
    return .object([
      "role": .string(isReplica ? "replica" : "primary"),
      "append_only_file": hasAppendOnlyFile.map { .bool($0) } ?? .null,
      "maxmemory": .integer(memoryBytesMax),
      "maxmemory_policy": policy.map { .string($0) } ?? .null,
      "evicted_keys": .integer(evictedKeys), "replicas": .integer(replicas),
      "replicas_awaited": .bool(awaitsReplicas), "risks": .array(risks),
    ])
  }
}
