internal import ArgumentParser
internal import Logging
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Reactor
internal import Worker

struct WorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Run a worker until it is told to stop.",
    discussion: """
        pushpool worker --config pushpool.yaml
        PUSHPOOL_WORKER_LANES=4 pushpool worker

      Workers share the work by themselves: start as many as are needed, on as many machines.

      SIGTERM or Ctrl-C drains a worker: it finishes what is in flight and hands back the rest, and \
      nothing is lost. A second signal, a second or more later, ends it without waiting for answers. \
      What is in flight then counts as sent without an answer, and may be sent again. \
      After a kill -9 other workers go on when its lease ends, and what was in flight may be sent again. \
      Without Redis a worker keeps trying and says so.

      A worker loads its configuration anew when the file or a file that it names has changed, and on \
      SIGHUP. It takes all of it or nothing: one that is refused raises an alarm, and the former one \
      goes on. Where Redis is, lanes and some others need a restart, and the log says so.

      A worker logs to standard error: for people on a terminal, as JSON lines elsewhere. log.format and \
      log.level in the configuration change that; --json changes nothing. A worker never waits for \
      whoever reads the log: lines that do not fit are dropped, and a later line says how many.
      """)

  @Option(
    help: "Threads that push (default: the configuration's, or one for each CPU that it may use).")
  var lanes: Int?

  @Option(
    help: ArgumentHelp(
      "A file for probes, replaced each second in which all lanes turned.",
      discussion:
        "It says ready, or starting while Redis cannot be used or the apps in Redis are not read yet. A second line then says why.",
      valueName: "file"))
  var healthFile: String?

  @Flag(
    help: ArgumentHelp(
      "End with 78 when a file of any app cannot be used.",
      discussion:
        "Otherwise such an app is left out: its jobs wait, an alarm tells of it, and it is tried again when a file changes."
    ))
  var strict = false

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    // One that comes before the worker is there asks for no more than it does anyway.
    Interrupts.shared.handleHangUp {}
    let options: [Settings.Override] = [
      ("--lanes", "PUSHPOOL_WORKER_LANES", lanes.map { String($0) })
    ]
    let file = try shared.file()
    let environment = shared.environment(options)
    let origin = ConfigurationOrigin(
      file: file, onLogLevel: { LogBootstrap.use($0) },
      read: { () throws(ConfigurationError) in
        try Configuration.load(file: file, environment: environment)
      })
    let configuration = try shared.load(options) { () throws(ConfigurationError) in
      try origin.load()
    }
    guard configuration.hasApps else {
      throw CommandFailure(
        .configuration,
        "there is no app to work for: name a configuration that has apps, or apps_in_redis, with --config FILE"
      )
    }
    // An app with bad files keeps no other from being sent for.
    let problems = configuration.validateFilesExist(for: .worker)
    if let problem = problems.first(where: { $0.app == nil }) {
      throw CommandFailure(.configuration, problem.description)
    }
    do throws(SystemError) {
      try LogBootstrap.start(configuration.log)
    } catch {
      throw CommandFailure(.internalError, "\(error.withLimits)")
    }
    let log = Logger(label: "pushpool")
    for variable in configuration.unusedVariables {
      log.warning("\(variable) is set but is no setting of pushpool")
    }
    for sentence in configuration.secretsReadableByAll(for: .worker) { log.warning("\(sentence)") }
    let service: WorkerService
    do {
      service = try WorkerService(
        configuration: configuration, from: origin, isStrict: strict, logger: log)
    } catch let error as SystemError {
      // Not what the configuration says, but what the machine lets the process have.
      throw CommandFailure(.internalError, "\(error.withLimits)")
    } catch {
      throw CommandFailure(.configuration, "\(error)")
    }
    Interrupts.shared.handle {
      service.stop()
      log.notice(
        "stopping: draining what is in hand; another signal, a second or more later, does not wait for answers"
      )
    }
    Interrupts.shared.handleHangUp { service.reload() }
    // A signal that came while keys were being loaded.
    if Interrupts.shared.hasCome { return }
    do {
      try await service.run(healthFile: healthFile)
    } catch let error as SystemError {
      throw CommandFailure(.internalError, "\(error.withLimits)")
    } catch {
      throw CommandFailure(.configuration, "\(error)")
    }
  }
}
