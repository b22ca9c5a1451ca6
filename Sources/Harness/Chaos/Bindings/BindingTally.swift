/// The results of many rounds of installs, uninstalls and verdicts.
struct BindingTally: Sendable {
  var operations = 0
  /// Verdicts that removed what they were about.
  var removed = 0
  /// Verdicts that came too late for what they were about, and removed nothing.
  var stale = 0
  /// Verdicts that removed another binding than they were about.
  var freshRemoved = 0
  /// Rounds whose answers and end no order of their operations explains.
  var unexplained = 0
  /// Lines of users' lists that a lane would have sent to although the token is another's.
  var misdirected = 0
  /// The first rounds or lines that were not right.
  private(set) var examples: [String] = []

  private static let examplesMax = 5

  mutating func note(_ example: String) {
    if examples.count < Self.examplesMax { examples.append(example) }
  }

  mutating func add(_ other: BindingTally) {
    operations += other.operations
    removed += other.removed
    stale += other.stale
    freshRemoved += other.freshRemoved
    unexplained += other.unexplained
    misdirected += other.misdirected
    for example in other.examples { note(example) }
  }
}
