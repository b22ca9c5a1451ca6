import Dispatch
import Glibc

/// A program that runs as long as its owner wants, and no longer: it is killed when this object is
/// released, and the kernel kills it when the owning process dies in whatever way.
///
/// It runs in a process group of its own, so that Ctrl-C reaches the owner only, which then ends
/// its children in order. Its standard input is empty.
package final class ChildProcess: Sendable {
  /// Where the program's output goes.
  package enum Output: Sendable {
    case inherit
    case discard
    /// Appended to this file, which is created with mode 0600.
    case file(String)
    /// Read through ``ChildProcess/standardOutput`` or ``ChildProcess/standardError``.
    case pipe
  }

  /// How the program ended.
  package enum Exit: Sendable, Equatable {
    case code(CInt)
    case signal(CInt)
  }

  package let pid: CInt
  package let standardOutput: ChildOutput?
  package let standardError: ChildOutput?
  private let life: ChildLife
  private let thread: pthread_t

  /// Starts a program. `executable` is a path, or a name to look for on PATH; `arguments` do not
  /// repeat it; without `environment` the owner's is passed on.
  package init(
    _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil,
    folder: String? = nil, output: Output = .inherit, error: Output = .inherit
  ) throws(LocalServiceError) {
    let path = try ChildProcess.find(executable)
    let input = try OpenDescriptor.open("/dev/null", O_RDONLY).release()
    defer { close(input) }
    let outputEnds = try OutputEnds(output)
    let errorEnds = try OutputEnds(error)
    let request = SpawnRequest(
      path: path, arguments: [executable] + arguments, environment: environment, folder: folder,
      input: input, output: outputEnds.childEnd, error: errorEnds.childEnd)
    let life = ChildLife(request)
    thread = try life.startThread()
    switch life.waitForSpawn() {
    case .success(let pid): self.pid = pid
    case .failure(let failure):
      pthread_join(thread, nil)
      throw .system("cannot start \(path)", errno: failure.errno)
    }
    self.life = life
    standardOutput = outputEnds.takeOwnerEnd().map(ChildOutput.init)
    standardError = errorEnds.takeOwnerEnd().map(ChildOutput.init)
  }

  deinit {
    life.send(SIGKILL)
    pthread_join(thread, nil)
  }

  /// How the program ended; nil while it runs.
  package var exit: Exit? { life.exit }

  /// Sends a signal; false when the program has ended already.
  @discardableResult
  package func signal(_ number: CInt) -> Bool {
    life.send(number)
  }

  /// Waits until the program has ended; nil when it still runs after that time.
  package func waitForExit(timeoutMs: UInt64) async -> Exit? {
    await life.waitForExit(timeoutMs: timeoutMs)
  }

  /// Asks the program to end with SIGTERM, and kills it when it has not after `graceMs`.
  @discardableResult
  package func terminate(graceMs: UInt64 = 5_000) async -> Exit? {
    signal(SIGTERM)
    if let exit = await waitForExit(timeoutMs: graceMs) { return exit }
    return await kill()
  }

  /// Ends the program at once with SIGKILL, and waits until it is gone.
  @discardableResult
  package func kill() async -> Exit? {
    signal(SIGKILL)
    return await waitForExit(timeoutMs: ChildProcess.killedMsMax)
  }

  /// A killed process is gone within microseconds unless it hangs inside the kernel.
  private static let killedMsMax: UInt64 = 10_000

  /// The path of a program: itself when it holds a slash, else the first match on PATH.
  package static func find(_ executable: String) throws(LocalServiceError) -> String {
    if executable.contains("/") { return executable }
    let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in search.split(separator: ":") where access("\(folder)/\(executable)", X_OK) == 0 {
      return "\(folder)/\(executable)"
    }
    throw LocalServiceError("\(executable) is not installed, or not on PATH")
  }
}
