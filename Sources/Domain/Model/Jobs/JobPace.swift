/// How fast a job is sent, at most, beside the rates of its networks.
package enum JobPace: Sendable, Equatable {
  /// Pushes a second of the whole fleet.
  case perSecond(Int)
  /// The pushes are spread evenly over so many seconds from its start.
  case spread(seconds: Int)
}
