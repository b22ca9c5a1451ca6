import ArgumentParser
import Glibc
import LocalServices
import Model
import Reactor
import Simulator

struct ServeCommand: ParsableCommand {
  static let portDefault: UInt16 = 8443

  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract:
      "Play \(Network.displayNames), and Google's OAuth endpoint, until SIGINT or SIGTERM (the default).",
    discussion: """
      Prints "listening on HOST:PORT" when connections are accepted. SIGHUP reads the script again,
      SIGUSR1 prints the counters, which the end prints too. A network for which no account is given takes
      every credential.
      """)

  @Option(help: "The numeric address to listen on.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on; 0 takes a free one.")
  var port: UInt16 = Self.portDefault

  @Option(help: ArgumentHelp("Make keys in this folder and use them.", valueName: "dir"))
  var generate: String?

  @Option(name: .customLong("cert"), help: "The server's certificate chain, PEM.")
  var certificateFile: String?

  @Option(name: .customLong("key"), help: "The server's private key, PEM.")
  var keyFile: String?

  @Option(name: .customLong("client-ca"), help: "Ask for client certificates of these authorities.")
  var clientAuthorityFile: String?

  @Option(help: "Which APNs to play: production or development.")
  var environment = PushEnvironment.production

  @OptionGroup var networks: NetworkOptions

  @Option(name: .customLong("script"), help: "How to misbehave, a JSON file.")
  var scriptFile: String?

  @Option(name: .customLong("accept-log"), help: "Append a line for each accepted push.")
  var acceptLogFile: String?

  @Flag(help: "Print a line of JSON for each request that is received.")
  var printRequests = false

  @Option(help: "Streams that a connection may have open at a time.")
  var maxConcurrentStreams: UInt32 = 1_000

  @Flag(help: "Allow that many streams before a request was authorised, too.")
  var openFromTheStart = false

  @Flag(help: "Let clients reset as many streams as they like, as libcurl before 8.0 does.")
  var tolerateResets = false

  @Flag(help: "Print JSON lines.")
  var json = false

  func validate() throws {
    if generate == nil && (certificateFile == nil || keyFile == nil) {
      throw ValidationError("TLS needs --cert and --key, or --generate DIR to have them made.")
    }
    if generate != nil && (certificateFile != nil || keyFile != nil) {
      throw ValidationError("--generate makes the certificate: leave out --cert and --key.")
    }
  }

  func run() throws {
    let signals = [SIGINT, SIGTERM, SIGHUP, SIGUSR1]
    SignalWatch.block(signals)
    do {
      let simulator = Simulator(options: try options())
      try simulator.start()
      Console.say(
        json
          ? JSONLine.listening(host: host, port: simulator.port)
          : "listening on \(host):\(simulator.port)")
      let refusedScripts = serve(simulator, until: signals)
      simulator.stop()
      tell(simulator, refusedScripts)
    } catch let error as SimulatorError {
      Console.complain(error.description)
      throw ExitStatus.of(error)
    } catch let error as LocalServiceError {
      Console.complain("\(error)")
      throw ExitStatus.configuration
    }
  }

  /// - Returns: how many scripts it refused.
  private func serve(_ simulator: Simulator, until signals: [CInt]) -> Int {
    var refusedScripts = 0
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    while true {
      var signal: CInt = 0
      guard sigwait(&set, &signal) == 0 else { continue }
      switch signal {
      case SIGHUP: if !reload(simulator) { refusedScripts += 1 }
      case SIGUSR1: tell(simulator, refusedScripts)
      default: return refusedScripts
      }
    }
  }

  private func tell(_ simulator: Simulator, _ refusedScripts: Int) {
    var counters = simulator.counters
    counters.refusedScripts = refusedScripts
    Console.say(counters.json)
  }

  /// - Returns: whether there is a new script.
  private func reload(_ simulator: Simulator) -> Bool {
    do throws(SimulatorError) {
      simulator.script = try script()
      return true
    } catch {
      Console.complain("\(error.description); the old script stays")
      return false
    }
  }

  private func script() throws(SimulatorError) -> SimulatorScript {
    guard let scriptFile else { return SimulatorScript() }
    return try SimulatorScript(
      json: BoundedFile.read(scriptFile, bytesMax: SimulatorLimits.scriptBytesMax))
  }

  private func options() throws -> SimulatorOptions {
    var options: SimulatorOptions
    var accounts = NetworkAccounts()
    if let generate {
      let port = self.port == 0 ? try FreePort.find() : self.port
      // Another that runs with these keys and this port keeps them.
      guard try FreePort.isFree(port) else {
        throw LocalServiceError(
          "port \(port) is in use: if that is another simulator, give this one a port and a folder of its own; "
            + "nothing in \(generate) was changed"
        )
      }
      let made = try KeyFolder(path: generate, port: port)
      let certificate = made.keys.certificate
      options = SimulatorOptions(
        certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
      options.port = port
      try NetworkOptions.of(made.keys).add(to: &accounts)
    } else {
      options = SimulatorOptions(certificateFile: certificateFile ?? "", keyFile: keyFile ?? "")
      options.port = port
    }
    options.host = host
    options.clientAuthorityFile = clientAuthorityFile
    options.environment = environment
    try networks.add(to: &accounts)
    options.accounts = accounts
    options.acceptLogFile = acceptLogFile
    if printRequests { options.receivedDescriptor = STDOUT_FILENO }
    options.maxConcurrentStreams = maxConcurrentStreams
    options.limitsNewConnections = !openFromTheStart
    options.limitsResets = !tolerateResets
    options.script = try script()
    return options
  }
}

extension PushEnvironment: ExpressibleByArgument {}
