import CLinux
import Dispatch
import Glibc
import Synchronization

/// The thread that starts a child and stays until the child has ended.
///
/// It must be one thread for both: PR_SET_PDEATHSIG fires when the *thread* that forked ends, and
/// threads of Swift's pools come and go.
final class ChildLife: Sendable {
  private struct State {
    var spawned: Result<pid_t, SpawnFailure>?
    var exit: ChildProcess.Exit?
    var waiters = Waiters<ChildProcess.Exit?>()
  }

  private let request: SpawnRequest
  private let state = Mutex(State())
  private let spawnEnded = DispatchSemaphore(value: 0)

  init(_ request: SpawnRequest) {
    self.request = request
  }

  /// Starts the thread, which is to be joined.
  func startThread() throws(LocalServiceError) -> pthread_t {
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(self)
    let failure = pthread_create(&thread, nil, runChildLife, retained.toOpaque())
    guard failure == 0 else {
      retained.release()
      throw .system("cannot start a thread", errno: failure)
    }
    return thread
  }

  func waitForSpawn() -> Result<pid_t, SpawnFailure> {
    spawnEnded.wait()
    return state.withLock { $0.spawned! }
  }

  var exit: ChildProcess.Exit? { state.withLock { $0.exit } }

  /// Signals under the lock: until the exit is recorded there, the pid cannot belong to another.
  @discardableResult
  func send(_ number: CInt) -> Bool {
    state.withLock { state in
      guard state.exit == nil, case .success(let pid) = state.spawned else { return false }
      return kill(pid, number) == 0
    }
  }

  func waitForExit(timeoutMs: UInt64) async -> ChildProcess.Exit? {
    await withCheckedContinuation { continuation in
      let id: UInt64? = state.withLock { state in
        state.exit == nil ? state.waiters.add(continuation) : nil
      }
      guard let id else { return continuation.resume(returning: exit) }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(timeoutMs))) {
        self.state.withLock { $0.waiters.take(id) }?.resume(returning: nil)
      }
    }
  }

  fileprivate func run() {
    clinux_name_thread("child")
    let spawned = request.spawn()
    state.withLock { $0.spawned = spawned }
    spawnEnded.signal()
    guard case .success(let pid) = spawned else { return }
    // Waits without reaping, so that the pid stays taken until the exit is recorded below.
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let waiting = state.withLock { state in
      var status: CInt = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      // The layout of wait(2)'s status: the low seven bits hold the signal, the next byte the code.
      let signal = status & 0x7f
      state.exit = signal == 0 ? .code((status >> 8) & 0xff) : .signal(signal)
      return state.waiters.takeAll()
    }
    let exit = self.exit
    for continuation in waiting { continuation.resume(returning: exit) }
  }
}

private func runChildLife(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  Unmanaged<ChildLife>.fromOpaque(argument!).takeRetainedValue().run()
  return nil
}
