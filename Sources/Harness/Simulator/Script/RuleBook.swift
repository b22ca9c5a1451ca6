internal import LocalServices
internal import Model

/// A script's rules made ready for matching, with what is left of their `times`.
struct RuleBook {
  private struct Entry {
    let rule: ScriptRule
    let prefix: [UInt8]
    var timesLeft: Int
  }

  private var entries: [Entry] = []
  /// For each first byte of a token, the entries that can match, in the script's order.
  private var candidates: [[Int32]] = []
  private var dice: SeededDice

  init(_ script: SimulatorScript) {
    dice = SeededDice(seed: script.seed)
    for rule in script.rules + (script.all.map { [$0] } ?? []) {
      entries.append(
        Entry(rule: rule, prefix: Array(rule.tokenPrefix.utf8), timesLeft: rule.times ?? Int.max))
    }
    guard !entries.isEmpty else { return }
    candidates = (0...255).map { byte in
      entries.indices.filter { index in
        entries[index].prefix.first.map { Int($0) == byte } ?? true
      }.map { Int32($0) }
    }
  }

  var isEmpty: Bool { entries.isEmpty }

  /// The first rule for this push that still applies; uses up one of its `times`.
  mutating func take(token: UnsafeRawBufferPointer, network: Network) -> ScriptRule? {
    guard !entries.isEmpty else { return nil }
    for candidate in candidates[Int(token.first ?? 0)] {
      let index = Int(candidate)
      guard entries[index].timesLeft > 0, token.starts(with: entries[index].prefix),
        entries[index].rule.network.map({ $0 == network }) ?? true
      else { continue }
      let probability = entries[index].rule.probability
      if probability < 1, Double.random(in: 0..<1, using: &dice) >= probability { continue }
      if entries[index].rule.times != nil { entries[index].timesLeft -= 1 }
      return entries[index].rule
    }
    return nil
  }
}
