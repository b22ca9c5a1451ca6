/// One of the things that a lane sees to again and again, with a state of its own; loop-bound. `AgentLoop` gives it its
/// turns. A test takes them by itself.
protocol Agent: AnyObject {
  /// Does what is due, or waits for it until it is woken.
  /// - Returns: how long until the next turn, in ms; 0 when that is due at once, which only a turn that has waited or asked
  ///   Redis may say: the lane does nothing else meanwhile.
  func turn() async -> UInt64
  /// Does what is left to do when it is not needed any more.
  func finish() async
}

extension Agent {
  func finish() async {}
}
