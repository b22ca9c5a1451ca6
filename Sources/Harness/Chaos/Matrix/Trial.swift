import LocalServices

/// One run of one row: what it is made with.
struct Trial: Sendable {
  /// Decisions of different kinds are drawn apart, so that the pace of one does not change another.
  enum Draw: UInt64, Sendable {
    case load = 1
    case faults
  }

  private(set) var programs: ChaosPrograms
  let row: Int
  let seed: UInt64
  /// The size of everything that has one; 1 is the size that the table of docs/internals/reliability.md is for.
  let scale: Double
  let soakMinutes: Double
  /// Whether the load is jobs of one user each.
  var isOfSmallJobs = false
  /// Only phases whose name holds this; nil for all.
  var phase: String?
  let progress: ProgressLine

  /// Returns the dice of a kind of decision: the same seed, row and kind give the same dice, whatever else runs.
  func dice(_ draw: Draw) -> SeededDice {
    var mixer = SeededDice(seed: seed &* 1_000_003 &+ UInt64(row) &* 101 &+ draw.rawValue)
    return SeededDice(seed: mixer.next())
  }

  func scaled(_ count: Int, atLeast least: Int = 1) -> Int {
    max(least, Int((Double(count) * scale).rounded()))
  }

  /// Milliseconds, scaled like everything else.
  func scaledMs(_ milliseconds: Int, atLeast least: Int) -> UInt64 {
    UInt64(scaled(milliseconds, atLeast: least))
  }

  /// Whether only the quickest kinds of a fault are wanted, as `make test` does.
  var isBrief: Bool { scale < 0.05 }

  /// Whether it is of the size that the matrix is for, on a machine of its own: only then do its times say much.
  var isFullSize: Bool { scale >= 1 }

  /// Returns a time limit as it is here. A brief trial runs beside tests, perhaps on a machine that has no time to
  /// spare. It tells what hangs, and `make chaos` how long it takes.
  func limit(_ seconds: Double) -> Double {
    isBrief ? ChaosLimits.patienceBrief * seconds : seconds
  }

  /// Returns the trial with workers of a debug build, which has crash points; nil when there is none.
  func withDebugWorkers() -> Trial? {
    guard let programs = programs.withDebugWorkers() else { return nil }
    var trial = self
    trial.programs = programs
    return trial
  }

  /// Whether a phase of a row is wanted.
  func wants(phase name: String, isLong: Bool) -> Bool {
    guard let phase else { return !isBrief || !isLong }
    return name.contains(phase)
  }

  /// Users of an ordinary stage: a debug build takes seconds to install them all.
  var users: Int { isBrief ? ChaosLimits.usersBrief : ChaosLimits.usersDefault }

  func say(_ text: String) { progress.say("\(row): \(text)") }
}
