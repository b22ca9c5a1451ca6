internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Store
internal import Typesetting

extension FleetSnapshot {
  /// One screen for a person.
  /// - Parameters:
  ///   - accepted: risks of Redis that the configuration accepts.
  ///   - absences: the shards that were not read.
  func lines(
    on terminal: Terminal, place: String, accepting accepted: AcceptedRisks = [],
    without absences: [ShardAbsence] = []
  ) -> [String] {
    var lines = ["\(place), \(InstantText.local(ms: nowMs))"]
    lines += redisLines(accepting: accepted)
    lines += absences.map { DisplayText.printable($0.sentence) } + [""]
    func heading(_ text: String) { lines.append(TextStyle.bold.apply(text, on: terminal)) }
    if !alarms.isEmpty {
      heading("Alarms")
      for alarm in alarms {
        let age = FigureText.duration(ms: max(0, nowMs - alarm.atMs))
        lines.append(
          "  \(DisplayText.printable(alarm.field)), for \(age): \(DisplayText.printable(alarm.sentence))"
        )
      }
      lines.append("")
    }
    heading("Workers: \(living.count) at work")
    if living.isEmpty {
      lines.append("  nobody sends: start one with pushpool worker")
    } else {
      lines += workerTable().lines(on: terminal) + configurationLines()
    }
    for worker in lost {
      let age = FigureText.duration(ms: nowMs - worker.lastBeatMs)
      lines.append("  \(DisplayText.printable(worker.worker)) has been silent for \(age)")
    }
    lines.append("")
    if shards.contains(where: { !$0.shard.isOnly }) {
      heading("Shards")
      lines += shardTable(without: absences).lines(on: terminal) + [""]
    }
    heading("Backlog")
    lines += backlogTable().lines(on: terminal)
    lines.append(
      "  delayed \(FigureText.count(queues.delayed)), dead \(FigureText.count(queues.dead))"
        + (queues.dead > 0 ? " (see pushpool dead list)" : ""))
    lines.append("")
    if !switches.entries.isEmpty {
      heading("Switched off: \(FigureText.count(switches.count))")
      lines += switches.table(indent: "  ", max: CommandLineLimits.switchesNamedMax)
        .lines(on: terminal)
      if switches.count > CommandLineLimits.switchesNamedMax {
        lines.append("  and more: pushpool switch list")
      }
      lines.append("")
    }
    heading("Outcomes")
    if outcomes.isEmpty {
      lines.append("  none in this minute and the last")
    } else {
      lines += outcomeTable().lines(on: terminal)
    }
    return lines
  }

  /// How each Redis is set up, and what of it is unsafe that no alarm tells already.
  private func redisLines(accepting accepted: AcceptedRisks) -> [String] {
    shards.flatMap { shard -> [String] in
      let name = shard.shard.isOnly ? "Redis" : "Redis of \(shard.shard.name)"
      guard let settings = shard.redis else {
        return ["\(name) does not say how it is set up: let this user run INFO"]
      }
      return ["\(name) is a \(settings.summary)"]
        + untoldRisks(of: settings, in: shard.shard, accepting: accepted[shard.shard]).map {
          "  unsafe: \($0.sentence)"
        }
    }
  }

  /// The work of each shard, of which the rest of the screen tells the sum.
  private func shardTable(without absences: [ShardAbsence]) -> TextTable {
    var table = TextTable([
      .init("  SHARD"), .init("NEW JOBS", .right), .init("CHUNKS WAITING", .right),
      .init("CHUNKS IN WORK", .right), .init("DELAYED", .right), .init("DEAD", .right),
    ])
    for shard in shards {
      let figures = [
        shard.newJobs, shard.waiting, shard.inWork, shard.queues.delayed, shard.queues.dead,
      ]
      table.append(["  " + shard.shard.name] + figures.map { FigureText.count($0) })
    }
    for absence in absences {
      table.append(["  " + absence.shard.name] + Array(repeating: "?", count: 5))
    }
    return table
  }

  /// The lines about which workers have the newest configuration, which refuse what is there now, and which are to be
  /// restarted for what has changed.
  private func configurationLines() -> [String] {
    var lines: [String] = []
    if let newest = newestConfiguration {
      let age = FigureText.duration(ms: max(0, nowMs - newest.sinceMs))
      let whose =
        newest.workers.count == newest.count ? "all" : "\(newest.workers.count) of \(newest.count)"
      lines.append(
        "  \(whose) have the configuration that came into force \(age) ago"
          + (newest.others.isEmpty ? "" : "; another one: \(names(newest.others))")
          + (newest.unknown.isEmpty ? "" : "; not told by \(names(newest.unknown))"))
    }
    let refusing = refusingConfiguration
    if !refusing.isEmpty {
      lines.append(
        "  the configuration that is there now is refused by \(refusing.count) of \(living.count), "
          + "as an alarm tells: \(names(refusing))")
    }
    let waiting = living.filter { restartAwaitedBy($0) != nil }.sorted { $0.worker < $1.worker }
    for worker in waiting.prefix(CommandLineLimits.workersNamedMax) {
      let settings = DisplayText.printable(restartAwaitedBy(worker) ?? "")
      lines.append(
        "  \(DisplayText.printable(worker.worker)) is to be restarted for \(settings)")
    }
    let more = waiting.count - CommandLineLimits.workersNamedMax
    if more > 0 { lines.append("  and \(more) more are to be restarted") }
    return lines
  }

  private func names(_ workers: [String]) -> String {
    let more = workers.count - CommandLineLimits.workersNamedMax
    return workers.prefix(CommandLineLimits.workersNamedMax).map { DisplayText.printable($0) }
      .joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  private func workerTable() -> TextTable {
    var table = TextTable([
      .init("  WORKER"), .init("LANES", .right), .init("CONNECTIONS", .right),
      .init("IN FLIGHT", .right), .init("ACCEPTED/S", .right), .init("MEMORY", .right),
      .init("UP", .right), .init("VERSION"),
    ])
    for worker in living.sorted(by: { $0.worker < $1.worker }) {
      func figure(_ name: String) -> Int? { worker.fields[name].flatMap { Int($0) } }
      func count(_ name: String) -> String { figure(name).map { FigureText.count($0) } ?? "" }
      table.append([
        "  " + worker.worker, count("lanes"), count("connections"), count("in_flight"),
        count("accepted_per_second"),
        memory(figure("rss_bytes"), of: figure("memory_limit_bytes")),
        figure("started_at").map {
          FigureText.duration(ms: nowMs - StoredNumber.instantMs(Int64($0)))
        } ?? "",
        worker.fields["version"] ?? "",
      ])
    }
    return table
  }

  /// The memory of a worker beside what its control group allows, where it says that.
  private func memory(_ bytes: Int?, of bytesMax: Int?) -> String {
    guard let bytes else { return "" }
    let text = FigureText.bytes(bytes)
    return bytesMax.map { $0 > 0 ? "\(text) of \(FigureText.bytes($0))" : text } ?? text
  }

  private func backlogTable() -> TextTable {
    var table = TextTable([
      .init("  PRIORITY"), .init("NEW JOBS", .right), .init("CHUNKS WAITING", .right),
      .init("CHUNKS IN WORK", .right),
    ])
    for priority in Priority.allCases {
      table.append([
        "  " + priority.rawValue, FigureText.count(queues.jobs[priority] ?? 0),
        FigureText.count(waiting(priority)), FigureText.count(held[priority] ?? 0),
      ])
    }
    return table
  }

  private func outcomeTable() -> TextTable {
    var table = TextTable([
      .init("  APP"), .init("NETWORK"), .init("OUTCOME"), .init("LAST MINUTE", .right),
      .init("THIS MINUTE", .right),
    ])
    for (names, last, this) in outcomes {
      let cells = (0..<3).map { $0 < names.count ? names[$0] : "" }
      table.append(
        ["  " + cells[0], cells[1], cells[2], FigureText.count(last), FigureText.count(this)])
    }
    return table
  }
}

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
