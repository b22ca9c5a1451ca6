internal import Model
internal import Store

/// The metrics of each worker, by its beat. A worker of an older version has few of them.
struct WorkerFamilies {
  private var info = MetricFamily(.workerInfo)
  private var requests = MetricFamily(.requestDuration)
  private var streams = MetricFamily(.streams)
  private var connections = MetricFamily(.connections)
  private var goAways = MetricFamily(.goAways)
  private var redis = MetricFamily(.redisDuration)
  private var lag = MetricFamily(.loopLag)
  private var cpu = MetricFamily(.cpu)
  private var memory = MetricFamily(.memory)
  private var openFiles = MetricFamily(.openFiles)
  private var openFilesMax = MetricFamily(.openFilesMax)
  private var started = MetricFamily(.started)

  var all: [MetricFamily] {
    [
      info, requests, streams, connections, goAways, redis, lag, cpu, memory, openFiles,
      openFilesMax, started,
    ]
  }

  mutating func add(_ worker: WorkerStatus) {
    let name = worker.worker
    func word(_ field: String) -> String {
      let text = worker.fields[field] ?? ""
      return text.utf8.count <= OperationsLimits.labelBytesMax ? text : ""
    }
    func count(_ field: String) -> Int? {
      worker.fields[field].flatMap { Int($0) }.map { max(0, StoredNumber.count($0)) }
    }
    info.add(1, ["worker": name, "host": word("host"), "version": word("version")])
    if let bytes = count("rss_bytes") { memory.add(bytes, ["worker": name]) }
    if let ms = worker.fields["started_at"].flatMap({ Int64($0) }) {
      started.add(ms: StoredNumber.instantMs(ms), ["worker": name])
    }
    if let figures = WorkerFigures(worker.fields) { add(figures, of: name) }
  }

  private mutating func add(_ figures: WorkerFigures, of name: String) {
    cpu.add(ms: Int64(figures.cpuMs), ["worker": name])
    openFiles.add(figures.openFiles, ["worker": name])
    if figures.openFilesMax > 0 { openFilesMax.add(figures.openFilesMax, ["worker": name]) }
    for network in Network.allCases {
      let word = network.rawValue
      if let times = figures.answers[network] {
        requests.add(times, ["worker": name, "network": word])
      }
      guard let here = figures.connections[network] else { continue }
      streams.add(here.streamsUsed, ["worker": name, "network": word, "state": "used"])
      streams.add(here.streamsAllowed, ["worker": name, "network": word, "state": "allowed"])
      connections.add(here.count, ["worker": name, "network": word])
      goAways.add(here.goAways, ["worker": name, "network": word])
    }
    if let times = figures.redis { redis.add(times, ["worker": name]) }
    if let times = figures.lag { lag.add(times, ["worker": name]) }
  }
}
