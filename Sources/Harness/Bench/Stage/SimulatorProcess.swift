import Glibc
import LocalServices
import Model

/// The push networks' stand-in in a process of its own, so that its CPU is nobody else's.
final class SimulatorProcess: Sendable {
  struct Counters: Sendable {
    var accepted: Int
    var violations: Int
  }

  private let child: ChildProcess

  var pid: CInt { child.pid }

  /// Starts it and returns when it accepts connections.
  init(program: String, arguments: [String]) async throws {
    child = try ChildProcess(program, arguments, output: .pipe)
    guard
      await child.standardOutput?.nextLine(
        containing: "listening", timeoutMs: BenchLimits.startMsMax) != nil
    else { throw BenchError("\(program) does not start; its own message is above") }
  }

  func counters() async throws -> Counters {
    child.signal(SIGUSR1)
    guard
      let line = await child.standardOutput?.nextLine(
        containing: "\"accepted\"", timeoutMs: BenchLimits.startMsMax),
      let object = try? JSONParser().parse(Array(line.utf8)).objectValue,
      let accepted = object["accepted"]?.int64Value,
      let violations = object["violations"]?.int64Value
    else { throw BenchError("the simulator does not say what it counted") }
    return Counters(accepted: Int(accepted), violations: Int(violations))
  }

  func stop() async {
    await child.terminate(graceMs: BenchLimits.stopMsMax)
  }
}
