import Glibc
import LocalServices
import Model

/// The push networks' stand-in, in a process of its own.
final class ProviderProcess: Sendable {
  private let child: ChildProcess
  private let scriptFile: String

  var pid: CInt { child.pid }

  /// Starts it and returns when it accepts connections.
  init(program: String, arguments: [String], script: String, scriptFile: String) async throws {
    self.scriptFile = scriptFile
    try PrivateFile.write(script, to: scriptFile)
    child = try ChildProcess(program, arguments + ["--script", scriptFile], output: .pipe)
    guard
      await child.standardOutput?.nextLine(
        containing: "listening", timeoutMs: ChaosLimits.startMsMax) != nil
    else { throw ChaosError("\(program) does not start; its own message is above") }
  }

  /// Misbehaves by this script from now on.
  func follow(_ script: String) async throws {
    try PrivateFile.write(script, to: scriptFile)
    child.signal(SIGHUP)
    // It takes signals one by one, this one first: an answer says that the script is in force.
    _ = try await counters()
  }

  func counters() async throws -> JSONObject {
    child.signal(SIGUSR1)
    guard
      let line = await child.standardOutput?.nextLine(
        containing: "\"accepted\"", timeoutMs: ChaosLimits.startMsMax),
      let object = try? JSONParser().parse(Array(line.utf8)).objectValue
    else { throw ChaosError("the simulator does not say what it counted") }
    return object
  }

  func stop() async {
    await child.terminate(graceMs: ChaosLimits.stopMsMax)
  }
}
