internal import Model

/// The script's word on pushes: which rule is for one, and what becomes of it.
struct ScriptedAnswers {
  private var rules: RuleBook
  /// How long an answer takes of which its rule says nothing.
  let delayMs: UInt64

  init(_ script: SimulatorScript) {
    rules = RuleBook(script)
    delayMs = script.delayMs
  }

  var isEmpty: Bool { rules.isEmpty }

  /// The connection whose request is being answered.
  var connection: Int {
    get { rules.connection }
    set { rules.connection = newValue }
  }

  /// The rule for a push; uses up one of its `times`.
  mutating func take(_ token: UnsafeRawBufferPointer, _ network: Network) -> RuleBook.Match? {
    rules.take(token: token, network: network)
  }

  /// Decides about a push that the network accepts unless a rule is for it.
  /// - Parameter ordinary: the network's answer to a push that it accepts.
  mutating func react<Played: PlayedNetwork>(
    to push: Acceptance, at network: Played.Type, ordinary: Answer
  ) -> Decision {
    guard !rules.isEmpty, let match = take(push.token, push.network) else {
      return Decision(reaction: .answer(ordinary), acceptance: push, delayMs: delayMs)
    }
    let delayMs = match.rule.delayMs ?? delayMs
    guard let scripted = reaction(of: match, to: push.token, at: network) else {
      return Decision(reaction: .answer(ordinary), acceptance: push, delayMs: delayMs)
    }
    return Decision(reaction: scripted, delayMs: delayMs)
  }

  /// The reaction that a rule says; nil when it leaves the ordinary answer.
  func reaction<Played: PlayedNetwork>(
    of match: RuleBook.Match, to token: UnsafeRawBufferPointer, at network: Played.Type
  ) -> Decision.Reaction? {
    let rule = match.rule
    return switch rule.action {
    case .answer where Played.network == .apns: match.apnsAnswer.map { .answer($0) }
    case .answer:
      rule.status.map { .answer(Answer(rule: rule, status: $0, at: network, token: token)) }
    case .stall: .stall
    case .reset: .reset(rule.resetCode)
    case .drop: .drop
    case .goAway: .goAway(rule.resetCode)
    }
  }
}
