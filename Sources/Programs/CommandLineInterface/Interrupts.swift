internal import Glibc
package import ProgramSetup
internal import Reactor
internal import Synchronization

/// Ctrl-C, SIGTERM and SIGHUP as something that commands answer. What expects nothing ends at once.
package final class Interrupts: Sendable {
  package static let shared = Interrupts()
  /// SIGHUP, unless the program was started to outlive its terminal (nohup(1)).
  static var signals: [CInt] {
    [SIGINT, SIGTERM] + (SignalWatch.isIgnored(SIGHUP) ? [] : [SIGHUP])
  }

  private let handler = Mutex<(@Sendable () -> Void)?>(nil)
  private let hangUpHandler = Mutex<(@Sendable () -> Void)?>(nil)
  private let seen = Atomic<Int>(0)
  private let first = Atomic<CInt>(SIGINT)

  /// Whether a signal has come since the program started.
  package var hasCome: Bool { seen.load(ordering: .relaxed) > 0 }

  /// Whether a second signal has come.
  var hasComeAgain: Bool { seen.load(ordering: .relaxed) > 1 }

  /// The exit status of a program that a signal ended, as shells report it: 130 for Ctrl-C, 143 for SIGTERM.
  var exitStatus: Int32 { 128 + first.load(ordering: .relaxed) }

  /// Delivers these signals on this loop; they are blocked everywhere else.
  func watch(_ signals: [CInt], on loop: EventLoop) {
    loop.execute { [self] in
      // The loop keeps the watch alive for as long as it runs itself.
      _ = try? SignalWatch(loop: loop, signals: signals) { [self] in take($0) }
    }
  }

  /// From now on a signal only sets `hasCome`, and ends the program when it comes again.
  package func expect() {
    handle { [self] in
      if seen.load(ordering: .relaxed) > 1 { _exit(exitStatus) }
    }
  }

  /// From now on each signal calls `body`, on the loop.
  func handle(_ body: @escaping @Sendable () -> Void) {
    handler.withLock { $0 = body }
  }

  /// From now on SIGHUP calls `body`, on the loop, and is no request to stop. It is one all the same when the terminal has gone that
  /// the program was started on.
  func handleHangUp(_ body: @escaping @Sendable () -> Void) {
    let hasTerminal = Terminal.isControlling
    hangUpHandler.withLock {
      $0 = { [self] in
        if hasTerminal, !Terminal.isControlling { stop(SIGHUP) } else { body() }
      }
    }
  }

  /// - Throws: `.interrupted` when a signal has come.
  package func check() throws(CommandFailure) {
    if hasCome { throw CommandFailure(.interrupted, "interrupted") }
  }

  private func take(_ signal: CInt) {
    if signal == SIGHUP, let body = hangUpHandler.withLock({ $0 }) { return body() }
    stop(signal)
  }

  private func stop(_ signal: CInt) {
    if !hasCome { first.store(signal, ordering: .relaxed) }
    seen.add(1, ordering: .relaxed)
    // Not by exit(3): it takes OpenSSL down under the threads that still use it.
    guard let body = handler.withLock({ $0 }) else { _exit(128 + signal) }
    body()
  }
}
