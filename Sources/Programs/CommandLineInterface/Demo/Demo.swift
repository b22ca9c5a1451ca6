internal import Configuration
internal import Glibc
internal import LocalServices
internal import Model
internal import Operations
internal import Redis
internal import Simulator
internal import Store

/// A campaign from Redis to simulated push networks, all of it on this machine and gone afterwards.
///
/// Whatever ends the demo, nothing stays: each child and the folder go with this object, and with the process
/// when it dies without a chance to clean up.
final class Demo {
  private let campaign: DemoCampaign
  private let console: Console
  private let folder: TemporaryFolder
  private let redis: RedisServer
  private let networks: DemoNetworks
  private let session: RedisSession
  private var worker: ChildProcess?

  private init(
    campaign: DemoCampaign, console: Console, folder: TemporaryFolder, redis: RedisServer,
    networks: DemoNetworks, session: RedisSession
  ) {
    self.campaign = campaign
    self.console = console
    self.folder = folder
    self.redis = redis
    self.networks = networks
    self.session = session
  }

  var redisURL: String { redis.url }
  var configurationFile: String { networks.configurationFile }
  var counters: SimulatorCounters { networks.simulator.counters }

  /// Starts Redis and the networks.
  static func start(_ campaign: DemoCampaign, console: Console) async throws -> Demo {
    let folder = try TemporaryFolder()
    let redis = try await RedisServer.start()
    console.note("redis-server runs on a socket of its own: \(redis.url)")
    do {
      let networks = try DemoNetworks.start(campaign, folder: folder, redisURL: redis.url)
      console.note("a simulated APNs and FCM listen on localhost:\(networks.simulator.port)")
      let url = try RedisURL(redis.url)
      let session = try await RedisSession.open(RedisConfiguration(url: url), functions: true)
      return Demo(
        campaign: campaign, console: console, folder: folder, redis: redis, networks: networks,
        session: session)
    } catch {
      await redis.close()
      folder.close()
      throw error
    }
  }

  /// Writes the campaign's installations to a file and imports it as `pushpool import` would.
  func importInstallations() async throws {
    let file = folder.file("installations.ndjson")
    try writeInstallations(file)
    let work = try InstallationImport(
      ImportInput(file), InstallationImport.Settings(), session: session, console: console)
    try await work.run()
    console.note(work.tally.sentence(elapsedMs: work.elapsedMs))
  }

  private func writeInstallations(_ path: String) throws {
    guard let file = fopen(path, "we") else {
      throw LocalServiceError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
    defer { fclose(file) }
    let yesterdayMs = InstantText.nowMs() - 86_400_000
    for index in 0..<campaign.installations {
      if index % 10_000 == 0 { try Interrupts.shared.check() }
      var line = campaign.line(index, installedAtMs: yesterdayMs).bytes()
      line.append(UInt8(ascii: "\n"))
      guard fwrite(line, 1, line.count, file) == line.count else {
        throw LocalServiceError("cannot write \(path): \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Starts a worker as an operator would: this program, another process.
  func startWorker() throws {
    try Interrupts.shared.check()
    let worker = try ChildProcess(
      "/proc/self/exe", ["worker", "--config", configurationFile], output: .discard,
      error: .file(folder.file("worker.log")))
    self.worker = worker
    console.note("a worker runs as process \(worker.pid)")
  }

  /// Enqueues the campaign and follows it to its end.
  func send() async throws -> JobRecord {
    let text = campaign.job()
    let entry = try await session.run { store throws(RedisError) in
      try await store.jobs.enqueue(text, priority: .normal)
    }
    let job = EnqueuedJob(
      app: DemoCampaign.app, id: DemoCampaign.jobID, priority: .normal, entry: entry, text: text)
    let follower = JobFollower(
      job: job, session: session, console: console, label: "sending",
      total: campaign.installations)
    return try await follower.follow { [worker, log = folder.file("worker.log")] in
      worker?.exit.map { exit in
        CommandFailure(
          .internalError, "the worker ended with \(exit): \(Self.end(ofLog: log))")
      }
    }
  }

  /// Waits for Ctrl-C, with everything running.
  func keep() async {
    while !Interrupts.shared.hasCome {
      if let exit = worker?.exit { return console.note("the worker ended with \(exit)") }
      await session.sleep(ms: CommandLineLimits.demoPollMs)
    }
  }

  /// Ends everything that was started, the worker first: it hands back what it has.
  func close() async {
    await worker?.terminate(graceMs: CommandLineLimits.demoWorkerGraceMs)
    await session.close()
    networks.simulator.stop()
    await redis.close()
    folder.close()
  }

  private static func end(ofLog path: String) -> String {
    guard let file = fopen(path, "re") else { return "it wrote no log" }
    defer { fclose(file) }
    fseek(file, -CommandLineLimits.logEndBytes, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: CommandLineLimits.logEndBytes)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
