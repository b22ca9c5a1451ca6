internal import CommandLineInterface
internal import Glibc
internal import LocalServices
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Stage
internal import Store
internal import Typesetting

/// A campaign from Redis to simulated push networks, all of it on this machine and gone afterwards.
///
/// Whatever ends the demo, nothing stays: each child and the folder go with the stage, and with the process when it dies
/// without a chance to clean up.
final class Demo {
  private let campaign: DemoCampaign
  private let console: Console
  private let stage: Stage
  private let simulator: SimulatorProcess
  /// The path of pushpool.
  private let program: String
  private let configurationFile: String
  private let session: RedisSession
  private var worker: WorkerProcess?

  private init(
    _ campaign: DemoCampaign, _ console: Console, _ stage: Stage, _ simulator: SimulatorProcess,
    program: String, configurationFile: String, session: RedisSession
  ) {
    self.campaign = campaign
    self.console = console
    self.stage = stage
    self.simulator = simulator
    self.program = program
    self.configurationFile = configurationFile
    self.session = session
  }

  var redisURL: String { stage.redis.url }
  var reachedUser: String { campaign.reachedUser }

  /// Returns what the networks saw and answered.
  func counters() async throws -> SimulatorCounters { try await simulator.counters() }

  /// Starts Redis and the networks, and ends everything that was started after the body, whatever happened.
  static func with(
    _ campaign: DemoCampaign, console: Console, _ body: (Demo) async throws -> Void
  ) async throws {
    let programs = try DemoPrograms()
    let networks = DemoNetworks(campaign: campaign)
    try await Stage.with { stage in
      console.note("redis-server runs on a socket of its own: \(stage.redis.url)")
      try await stage.withSimulator(programs.simulator, networks.options) { simulator in
        console.note(
          "simulated push networks (\(DemoCampaign.networks)) listen on localhost:\(stage.port)")
        let session = try await RedisSession.open(
          Configuration(redis: RedisConfiguration(url: RedisURL(stage.redis.url))),
          as: .operator)
        let demo = Demo(
          campaign, console, stage, simulator, program: programs.pushpool,
          configurationFile: try stage.write(networks.configuration(stage)), session: session)
        do {
          try await body(demo)
        } catch {
          await demo.close()
          throw error
        }
        await demo.close()
      }
    }
  }

  /// Writes the campaign's installations to a file and imports it as `pushpool import` would.
  func importInstallations() async throws {
    let file = stage.folder.file("installations.ndjson")
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

  /// Starts a worker as an operator would.
  func startWorker() throws {
    try Interrupts.shared.check()
    // This process's variables would lead it to another Redis.
    let environment = Environment.variables.filter { !$0.key.hasPrefix("PUSHPOOL_") }
    let worker = try WorkerProcess(
      program: program, configurationFile: configurationFile, environment: environment,
      log: stage.folder.file("worker.log"))
    self.worker = worker
    console.note("a worker runs as process \(worker.pid)")
  }

  /// Enqueues the campaign and follows it to its end.
  func send() async throws -> JobRecord {
    let submission = JobSubmission(unchecked: campaign.job())
    let job = try await session.run(in: submission.scope) { store throws(RedisError) in
      try await submission.enqueue(in: store, priority: .normal)
    }
    let follower = JobFollower(
      job: job, session: session, console: console, label: "sending",
      total: campaign.installations)
    return try await follower.follow { [worker, simulator, log = stage.folder.file("worker.log")] in
      if let exit = simulator.exit {
        return CommandFailure(.internalError, "the simulator ended with \(exit)")
      }
      return worker?.child.exit.map { exit in
        CommandFailure(
          .internalError, "the worker ended with \(exit): \(Self.end(ofLog: log))")
      }
    }
  }

  /// Waits for Ctrl-C, with everything running.
  func keep() async {
    while !Interrupts.shared.hasCome {
      if let exit = worker?.child.exit { return console.note("the worker ended with \(exit)") }
      if let exit = simulator.exit { return console.note("the simulator ended with \(exit)") }
      await session.sleep(ms: DemoLimits.pollMs)
    }
  }

  /// Ends the worker first: it hands back what it has.
  private func close() async {
    await worker?.stop(graceMs: DemoLimits.workerGraceMs)
    await session.close()
  }

  private static func end(ofLog path: String) -> String {
    guard let file = fopen(path, "re") else { return "it wrote no log" }
    defer { fclose(file) }
    fseek(file, -DemoLimits.logEndBytes, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: DemoLimits.logEndBytes)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}

/// The programs that the demo starts. They lie beside its own.
struct DemoPrograms {
  let pushpool: String
  let simulator: String

  init() throws(CommandFailure) {
    do throws(LocalServiceError) {
      pushpool = try BuiltProgram.path(of: "pushpool", builtBy: "demo")
      simulator = try BuiltProgram.path(of: "pushpool-simulator", builtBy: "demo")
    } catch {
      throw CommandFailure(
        .unavailable,
        "the demo starts pushpool and pushpool-simulator, which must lie beside pushpool-demo; \(error)"
      )
    }
  }
}
