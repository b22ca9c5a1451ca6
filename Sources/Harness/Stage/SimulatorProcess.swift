import Glibc
package import LocalServices

/// The push networks' stand-in in a process of its own, so that its CPU is nobody else's.
package final class SimulatorProcess: Sendable {
  /// In which it differs from one that checks all that it can and logs nothing.
  package struct Options: Sendable {
    /// How it misbehaves at first, as `pushpool-simulator --help` has it.
    package var script: String
    /// The bundle IDs that may be pushed to; empty allows every one.
    package var topics: [String] = []
    /// APNs's signing keys that it knows beside the stage's, under the same key id.
    package var moreKeyFiles: [String] = []
    /// Service accounts of FCM that it knows beside the stage's.
    package var moreAccountFiles: [String] = []
    /// A line for each accepted push goes to this file.
    package var acceptLog: String?
    /// Streams that a connection may have open at a time; nil for its own default.
    package var streams: Int?
    /// Whether they are allowed before a request was authorised, too.
    package var isOpenFromTheStart = false

    package init(script: String = "{}") {
      self.script = script
    }
  }

  private let child: ChildProcess
  private let scriptFile: String

  package var pid: CInt { child.pid }
  /// How it ended; nil while it runs.
  package var exit: ChildProcess.Exit? { child.exit }

  /// Starts it with a stage's keys on the stage's port, and returns when it accepts connections.
  init(program: String, _ options: Options, on stage: Stage) async throws(LocalServiceError) {
    scriptFile = stage.folder.file("script.json")
    try PrivateFile.write(options.script, to: scriptFile)
    let key = stage.keys.apnsKey
    var arguments = [
      "--port", String(stage.port), "--cert", stage.keys.certificate.certificateFile,
      "--key", stage.keys.certificate.keyFile, "--script", scriptFile,
    ]
    arguments += stage.keys.accounts.flatMap(\.simulatorOptions)
    arguments += options.moreKeyFiles.flatMap {
      ["--apns-key", "\(key.keyID):\(key.teamID):\($0)"]
    }
    arguments += options.moreAccountFiles.flatMap { ["--service-account", $0] }
    arguments += options.topics.flatMap { ["--topic", $0] }
    if let file = options.acceptLog { arguments += ["--accept-log", file] }
    if let streams = options.streams { arguments += ["--max-concurrent-streams", String(streams)] }
    if options.isOpenFromTheStart { arguments.append("--open-from-the-start") }
    child = try ChildProcess(program, arguments, output: .pipe)
    guard
      await child.standardOutput?.nextLine(
        containing: "listening", timeoutMs: StageLimits.startMsMax) != nil
    else {
      throw LocalServiceError("\(program) does not start; its own message is above")
    }
  }

  /// Misbehaves by this script from now on.
  package func follow(_ script: String) async throws(LocalServiceError) {
    try PrivateFile.write(script, to: scriptFile)
    child.signal(SIGHUP)
    // It takes signals one by one, this one first: an answer says that the script is in force.
    guard try await counters().refusedScripts == 0 else {
      throw LocalServiceError("the simulator refuses a script; its own message is above")
    }
  }

  /// Returns what it saw and did since it started.
  package func counters() async throws(LocalServiceError) -> SimulatorCounters {
    child.signal(SIGUSR1)
    guard
      let line = await child.standardOutput?.nextLine(
        containing: "\"accepted\"", timeoutMs: StageLimits.startMsMax),
      let counters = SimulatorCounters(json: line)
    else { throw LocalServiceError("the simulator does not say what it counted") }
    return counters
  }

  func stop() async {
    await child.terminate(graceMs: StageLimits.stopMsMax)
  }
}
