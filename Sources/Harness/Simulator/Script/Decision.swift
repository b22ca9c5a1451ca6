/// The decision about a request.
struct Decision {
  enum Reaction {
    case answer(Answer)
    case stall
    case reset(UInt32)
    case drop
    /// GOAWAY with this code, then the connection is closed.
    case goAway(UInt32)

    /// The decision in words for somebody who watches.
    var summary: String {
      switch self {
      case .answer(let answer) where answer.status == 200 || answer.body.isEmpty:
        "\(answer.status)"
      case .answer(let answer):
        "\(answer.status) "
          + String(
            decoding: answer.body.prefix(SimulatorLimits.shownAnswerBytesMax), as: UTF8.self)
      case .stall: ScriptRule.Action.stall.rawValue
      case .reset(let code): "\(ScriptRule.Action.reset.rawValue) \(code)"
      case .drop: ScriptRule.Action.drop.rawValue
      case .goAway(let code): "\(ScriptRule.Action.goAway.rawValue) \(code)"
      }
    }
  }

  var reaction: Reaction
  /// Set when a push was accepted, to be logged before the reaction.
  var acceptance: Acceptance?
  var delayMs: UInt64 = 0

  static func answer(_ answer: Answer) -> Decision { Decision(reaction: .answer(answer)) }
}
