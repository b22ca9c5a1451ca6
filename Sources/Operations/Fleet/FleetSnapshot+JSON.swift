package import Model
package import PushpoolConfiguration
internal import Store

extension FleetSnapshot {
  /// Returns all of it as one object.
  /// - Parameters:
  ///   - accepted: risks of Redis that the configuration accepts.
  ///   - absences: the shards that were not read.
  package func json(
    accepting accepted: AcceptedRisks = [], without absences: [ShardAbsence] = []
  ) -> JSONValue {
    var backlog: JSONObject = [:]
    for priority in Priority.allCases {
      backlog[priority.rawValue] = .object([
        "jobs": .integer(queues.jobs[priority] ?? 0), "waiting": .integer(waiting(priority)),
        "in_work": .integer(held[priority] ?? 0),
      ])
    }
    var object: JSONObject = [
      "at": .integer(nowMs), "workers": .array(workers.map(json)), "backlog": .object(backlog),
      "delayed": .integer(queues.delayed), "dead": .integer(queues.dead),
      "switched_off": .array(
        switches.sorted.map { .object($0.killSwitch.json($0.remark)) }),
      "outcomes": .array(outcomes.map { json($0.names, last: $0.last, this: $0.this) }),
      "alarms": .array(alarms.map(json)),
      "redis": .array(
        shards.map { $0.redis?.json(accepting: accepted[$0.shard]) ?? .null }),
    ]
    // Of a fleet with one shard there is no more to tell.
    if !absences.isEmpty || shards.contains(where: { !$0.shard.isOnly }) {
      object["shards"] = .array(shards.map(json) + absences.map(\.json))
    }
    return .object(object)
  }

  private func json(_ shard: ShardStanding) -> JSONValue {
    .object([
      "shard": .string(shard.shard.name), "present": .bool(true), "jobs": .integer(shard.newJobs),
      "waiting": .integer(shard.waiting), "in_work": .integer(shard.inWork),
      "delayed": .integer(shard.queues.delayed), "dead": .integer(shard.queues.dead),
    ])
  }

  private func json(_ worker: WorkerStatus) -> JSONValue {
    var object: JSONObject = [
      "worker": .string(worker.worker), "last_beat": .integer(worker.lastBeatMs),
      "alive": .bool(isAlive(worker)),
    ]
    for (name, value) in worker.fields.sorted(by: { $0.key < $1.key })
    where object[name] == nil && !WorkerFigures.isForMonitors(name) {
      object[name] = Int64(value).map { .integer($0) } ?? .string(value)
    }
    return .object(object)
  }

  private func json(_ alarm: Alarm) -> JSONValue {
    var object: JSONObject = [
      "alarm": .string(alarm.field), "since": .integer(alarm.atMs),
      "message": .string(alarm.sentence),
    ]
    object["shard"] = alarm.shard.map { .string($0.name) }
    return .object(object)
  }

  private func json(_ names: [String], last: Int, this: Int) -> JSONValue {
    var object: JSONObject = [:]
    for (name, value) in zip(["app", "network", "outcome"], names) { object[name] = .string(value) }
    object["last_minute"] = .integer(last)
    object["this_minute"] = .integer(this)
    return .object(object)
  }
}

extension ShardAbsence {
  fileprivate var json: JSONValue {
    .object([
      "shard": .string(shard.name), "present": .bool(false),
      "message": .string(failure.description),
    ])
  }
}

extension RedisSettings {
  fileprivate func json(accepting accepted: Set<RedisRisk>) -> JSONValue {
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
