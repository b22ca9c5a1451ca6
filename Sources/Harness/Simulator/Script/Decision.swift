/// What becomes of a request.
struct Decision {
  enum Reaction {
    case answer(Answer)
    case stall
    case reset(UInt32)
    case drop
    /// GOAWAY with this code, then the connection is closed.
    case goAway(UInt32)
  }

  var reaction: Reaction
  /// Set when a push was accepted, to be logged before the reaction.
  var acceptance: Acceptance?
  var delayMs: UInt64 = 0

  static func answer(_ answer: Answer) -> Decision { Decision(reaction: .answer(answer)) }
}
