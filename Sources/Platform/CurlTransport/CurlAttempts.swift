import HTTP2
import Reactor

/// The attempts of a pool to connect: those on their way, and the pause before the next; loop-bound.
final class CurlAttempts {
  private(set) var underway = 0
  private var pause: ReconnectPause
  private let timer: LoopTimer

  /// - Parameter onDue: called when a pause is over.
  init(loop: EventLoop, settings: ClientSettings, onDue: @escaping () -> Void) {
    pause = ReconnectPause(settings)
    timer = LoopTimer(loop: loop, action: onDue)
  }

  var isPausing: Bool { timer.isArmed }

  func begin() { underway += 1 }

  func end() { underway -= 1 }

  /// Has the next attempt wait: longer each time, while attempts fail.
  func pause(afterFailure isFailure: Bool) {
    timer.schedule(afterMs: pause.next(afterFailure: isFailure))
  }

  /// A request was answered: the next pause is the shortest again.
  func noteAnswer() { pause.noteAnswer() }

  func stop() { timer.cancel() }
}
