internal import Model
internal import Store

extension FleetMetrics {
  /// All metrics, in the order of `Metric`.
  package var families: [MetricFamily] {
    var families: [Metric: MetricFamily] = [:]
    for family in pushFamilies + workFamilies + fleetFamilies + workerFamilies + redisFamilies {
      families[family.metric] = family
    }
    families[.readAt] = readAt
    families[.leftOut] = leftOut
    return Metric.allCases.compactMap { families[$0] }
  }

  private var readAt: MetricFamily {
    var family = MetricFamily(.readAt)
    family.add(ms: nowMs)
    return family
  }

  private var leftOut: MetricFamily {
    var family = MetricFamily(.leftOut)
    family.add(unreadJobs, ["what": "jobs"])
    // How many more there are is not known where not all were read.
    let pushes = max(0, totals.counts.count - OperationsLimits.pushSeriesMax)
    family.add(totals.isWhole ? pushes : max(1, pushes), ["what": "pushes"])
    family.add(workerCount - told.count, ["what": "workers"])
    if let unreadShards { family.add(unreadShards, ["what": "shards"]) }
    return family
  }

  private var pushFamilies: [MetricFamily] {
    var pushes = MetricFamily(.pushes)
    let counts = totals.counts.sorted { one, other in
      (one.key.app, one.key.network?.index ?? -1, one.key.outcome)
        < (other.key.app, other.key.network?.index ?? -1, other.key.outcome)
    }
    for (name, count) in counts.prefix(OperationsLimits.pushSeriesMax) {
      pushes.add(
        count,
        [
          "app": name.app, "network": name.network?.rawValue ?? "none", "outcome": name.outcome,
        ])
    }
    var since = MetricFamily(.pushesSince)
    if let sinceMs = totals.sinceMs { since.add(ms: sinceMs) }
    return [pushes, since]
  }

  private var workFamilies: [MetricFamily] {
    var oldest = MetricFamily(.oldestReady)
    var jobs = MetricFamily(.queuedJobs)
    var chunks = MetricFamily(.queuedChunks)
    var recipients = MetricFamily(.backlogRecipients)
    for priority in Priority.allCases {
      let name = priority.rawValue
      if let ms = oldestMs[priority] { oldest.add(ms: ms, ["priority": name]) }
      jobs.add(queues.jobs[priority] ?? 0, ["priority": name])
      chunks.add(queues.chunks[priority] ?? 0, ["priority": name])
      recipients.add(backlog[priority] ?? 0, ["priority": name])
    }
    var delayed = MetricFamily(.delayedChunks)
    delayed.add(queues.delayed)
    var states = MetricFamily(.jobs)
    for state in JobState.allCases where state != .done && state != .refused {
      // Those that nobody has admitted stand in the streams alone.
      let queued = state == .queued ? queues.jobs.values.reduce(0, +) : 0
      states.add((self.jobs[state] ?? 0) + queued, ["state": state.rawValue])
    }
    var dead = MetricFamily(.deadLetters)
    dead.add(queues.dead)
    return [oldest, jobs, chunks, delayed, recipients, states, dead]
  }

  private var fleetFamilies: [MetricFamily] {
    var workers = MetricFamily(.workers)
    workers.add(workerCount)
    var kinds = MetricFamily(.alarm)
    let byLabels = Dictionary(grouping: alarms, by: AlarmLabels.init)
    let sorted = byLabels.sorted { one, other in
      (one.key.kind, one.key.app, one.key.network)
        < (other.key.kind, other.key.app, other.key.network)
    }
    for (labels, alarms) in sorted {
      kinds.add(
        alarms.count, ["kind": labels.kind, "app": labels.app, "network": labels.network])
    }
    var all = MetricFamily(.alarms)
    all.add(alarms.count)
    return [workers, kinds, all]
  }

  /// The workers that are told of, by name.
  private var told: [WorkerStatus] {
    workers.values.filter { $0.worker.utf8.count <= OperationsLimits.labelBytesMax }
      .sorted { $0.worker < $1.worker }
  }

  private var workerFamilies: [MetricFamily] {
    var families = WorkerFamilies()
    for worker in told { families.add(worker) }
    return families.all
  }

  private var redisFamilies: [MetricFamily] {
    var memory = MetricFamily(.redisMemory)
    var memoryMax = MetricFamily(.redisMemoryMax)
    var evicted = MetricFamily(.redisEvicted)
    for (shard, settings) in redis {
      guard let settings else { continue }
      let store = shard.isOnly ? "0" : shard.name
      memory.add(settings.memoryBytes, ["store": store])
      memoryMax.add(settings.memoryBytesMax, ["store": store])
      evicted.add(settings.evictedKeys, ["store": store])
    }
    return [memory, memoryMax, evicted]
  }
}
