internal import Glibc
internal import ProgramSetup
internal import Reactor
internal import Synchronization

/// The signals that end the server: the first one gently, another one at once.
final class StopSignals: Sendable {
  private struct State {
    var hasCome = false
    var body: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Delivers them on this loop; they are blocked everywhere else.
  func watch(_ signals: [CInt], on loop: EventLoop) {
    loop.execute { [self] in
      // The loop keeps the watch alive for as long as it runs itself.
      _ = try? SignalWatch(loop: loop, signals: signals) { [self] in take($0) }
    }
  }

  /// Calls the body on the first signal, at once if that has come.
  func onFirst(_ body: @escaping @Sendable () -> Void) {
    let hasCome = state.withLock { state in
      state.body = body
      return state.hasCome
    }
    if hasCome { body() }
  }

  private func take(_ signal: CInt) {
    let (isFirst, body) = state.withLock { state in
      defer { state.hasCome = true }
      return (!state.hasCome, state.body)
    }
    guard isFirst else {
      LogSink.flush()
      _exit(128 + signal)
    }
    body?()
  }
}
