/// The meaning of an answer to one push for all pushes of a destination.
package enum AnswerSign: Sendable, Equatable {
  case none
  /// The network is in trouble, or has had enough of us: the next push would fare no better.
  case trouble
  /// The network takes pushes, and has had too many of them a second.
  case overRate
  /// The token does not fit our environment, topic or sender: of one device that is its own affair, of
  /// many it is a mistake in the configuration.
  case misfit
  /// The app is set up wrongly: the next push would be refused as well, whatever its job and its token.
  case setup
  /// The job's content is refused, which is the same for its other devices.
  /// - Parameter isSure: false where the token may be to blame as well.
  case content(isSure: Bool)
}
