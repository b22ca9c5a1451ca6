internal import LocalServices
internal import Model

/// A script's rules made ready for matching, with what is left of their `times`.
struct RuleBook {
  /// A rule that applies to a push.
  struct Match {
    let rule: ScriptRule
    /// The answer of APNs by it, the same to every token; nil when the rule answers nothing of its own.
    let apnsAnswer: Answer?
  }

  private struct Entry {
    let match: Match
    let prefix: [UInt8]
    /// The dice's chance to begin with a push that no burst covers.
    let chance: Double
    var timesLeft: Int
    var burstLeft = 0

    init(_ rule: ScriptRule) {
      let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
      match = Match(
        rule: rule,
        apnsAnswer: rule.status.map {
          Answer(rule: rule, status: $0, at: APNsNetwork.self, token: nothing)
        })
      prefix = Array(rule.tokenPrefix.utf8)
      chance = Self.chance(rule)
      timesLeft = rule.times ?? Int.max
    }

    /// Bursts of n that begin with a chance of p are np / (np + 1 - p) of all pushes: the rule's share, solved for p.
    private static func chance(_ rule: ScriptRule) -> Double {
      guard rule.burst > 1 else { return rule.probability }
      let share = rule.probability
      return share / (Double(rule.burst) * (1 - share) + share)
    }

    /// Whether the dice choose a push that matches, or chose it when a burst began.
    mutating func isHit(_ dice: inout SeededDice) -> Bool {
      guard burstLeft == 0 else {
        burstLeft -= 1
        return true
      }
      guard chance < 1 else { return true }
      guard Double.random(in: 0..<1, using: &dice) < chance else { return false }
      burstLeft = match.rule.burst - 1
      return true
    }
  }

  private var entries: [Entry] = []
  /// For each first byte of a token, the entries that can match, in the script's order.
  private var candidates: [[Int32]] = []
  private var dice: SeededDice
  /// The connection whose request is being answered.
  var connection = 0

  init(_ script: SimulatorScript) {
    dice = SeededDice(seed: script.seed)
    entries = (script.rules + (script.all.map { [$0] } ?? [])).map { Entry($0) }
    guard !entries.isEmpty else { return }
    candidates = (0...255).map { byte in
      entries.indices.filter { index in
        entries[index].prefix.first.map { Int($0) == byte } ?? true
      }.map { Int32($0) }
    }
  }

  var isEmpty: Bool { entries.isEmpty }

  /// The first rule for this push that still applies; uses up one of its `times`.
  mutating func take(token: UnsafeRawBufferPointer, network: Network) -> Match? {
    guard !entries.isEmpty else { return nil }
    for candidate in candidates[Int(token.first ?? 0)] {
      let index = Int(candidate)
      guard entries[index].timesLeft > 0, token.starts(with: entries[index].prefix),
        entries[index].match.rule.network.map({ $0 == network }) ?? true,
        entries[index].match.rule.connection.map({ $0 == connection }) ?? true
      else { continue }
      guard entries[index].isHit(&dice) else { continue }
      if entries[index].match.rule.times != nil { entries[index].timesLeft -= 1 }
      return entries[index].match
    }
    return nil
  }
}
