/// What an answer to one push says about all of a destination's.
package enum AnswerSign: Sendable, Equatable {
  case none
  /// The network is in trouble, or has had enough of us: the next push would fare no better.
  case trouble
  /// The token does not fit our environment, topic or sender: of one device that is its own affair, of
  /// many it is a mistake in the configuration.
  case misfit
}
