internal import Glibc
internal import Synchronization

/// A thread of this process. The system may refuse to make one: each user (RLIMIT_NPROC) and each control group
/// (pids.max) has a limit.
package struct SystemThread: Sendable {
  private let thread: pthread_t

  /// The code that the new thread runs.
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// - Parameter name: what the error calls it, such as `the thread of lane-3`.
  /// - Throws: EAGAIN when a limit is reached (pthread_create(3)).
  package static func start(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) -> SystemThread {
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(Body(body))
    let code = pthread_create(&thread, nil, runBody, retained.toOpaque())
    guard code == 0 else {
      retained.release()
      throw SystemError("cannot start \(name)", errno: code)
    }
    return SystemThread(thread: thread)
  }

  /// How many threads Swift's tasks run on at most, which it makes when they are needed: one a core. It does not take
  /// no for an answer: it tries again each second, and what waits for the thread stands still.
  package static var poolMax: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }

  /// Whether so many more can be made: makes them, and lets them end.
  package static func checkSpare(_ count: Int) throws(SystemError) {
    let gate = Gate()
    var threads: [SystemThread] = []
    defer { for thread in threads { thread.join() } }
    try gate.lock.withLock { _ throws(SystemError) in
      for _ in 0..<count {
        threads.append(try start("a spare thread") { gate.lock.withLock { _ in } })
      }
    }
  }

  private final class Gate: Sendable {
    let lock = Mutex(())
  }

  /// Waits until it has ended. Either this or `detach` is to be called, once.
  package func join() { pthread_join(thread, nil) }

  package func detach() { pthread_detach(thread) }

  fileprivate static func run(_ context: UnsafeMutableRawPointer) {
    Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
  }
}

private func runBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context { SystemThread.run(context) }
  return nil
}
