/// Carries something that belongs to a loop through a `@Sendable` closure that the same loop will
/// run; opening it anywhere else is a programming error and stops the process.
struct LoopBound<Value>: @unchecked Sendable {
  private let wrapped: Value
  private let loop: EventLoop

  init(_ value: Value, loop: EventLoop) {
    wrapped = value
    self.loop = loop
  }

  var value: Value {
    loop.checkIsolated()
    return wrapped
  }
}
