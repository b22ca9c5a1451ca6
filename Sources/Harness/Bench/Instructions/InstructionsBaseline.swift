import Model

/// The committed figures that a change is held against.
package struct InstructionsBaseline: Sendable, Equatable {
  /// The day it was measured, `2026-11-21`.
  package var date: String
  /// What else decides the figures: see ``Platform``.
  package var platform: String
  package var instructionsPerPush: Double
  package var allocationsPerPush: Double

  /// How much more is a failure. Runs differ by less than 2 %, on a machine with ten times the load it can
  /// bear: timers and turns of the loop that it has more of for each push then.
  package static let instructionsTolerance = 0.05
  /// For the same reason runs differ by up to 0.4; another allocation in each push is 1.
  package static let allocationsTolerance = 0.5

  package init(date: String, platform: String, _ count: InstructionCount) {
    self.date = date
    self.platform = platform
    instructionsPerPush = count.instructionsPerPush
    allocationsPerPush = count.allocationsPerPush
  }

  package init(json: [UInt8]) throws(BenchError) {
    func number(_ value: JSONValue?) -> Double? {
      if case .number(let number)? = value { number.double } else { nil }
    }
    guard let object = (try? JSONParser().parse(json))?.objectValue,
      let date = object["date"]?.stringValue, let platform = object["platform"]?.stringValue,
      let instructions = number(object["instructions_per_push"]),
      let allocations = number(object["allocations_per_push"])
    else {
      throw BenchError(
        "the baseline needs date, platform, instructions_per_push and allocations_per_push; "
          + "write it anew with --update")
    }
    self.date = date
    self.platform = platform
    instructionsPerPush = instructions
    allocationsPerPush = allocations
  }

  package var json: String {
    """
    {
      "what": "User-space instructions and C allocations of a worker per push: scripts/instructions",
      "date": "\(date)",
      "platform": "\(platform)",
      "instructions_per_push": \(Self.plain(instructionsPerPush, decimals: 0)),
      "allocations_per_push": \(Self.plain(allocationsPerPush, decimals: 2))
    }

    """
  }

  private static func plain(_ value: Double, decimals: Int) -> String {
    Figure.text(value, decimals: decimals).filter { $0 != "," }
  }

  /// Sentences about what got worse; none when the count holds.
  package func faults(of count: InstructionCount) -> [String] {
    var faults: [String] = []
    if count.instructionsPerPush > instructionsPerPush * (1 + Self.instructionsTolerance) {
      faults.append(
        "A push takes \(Figure.text(count.instructionsPerPush, decimals: 0)) instructions, "
          + "\(change(count)) against the \(Figure.text(instructionsPerPush, decimals: 0)) of \(date)."
      )
    }
    if count.allocationsPerPush > allocationsPerPush + Self.allocationsTolerance {
      faults.append(
        "A push takes \(Figure.text(count.allocationsPerPush, decimals: 2)) allocations; on \(date) "
          + "it took \(Figure.text(allocationsPerPush, decimals: 2)).")
    }
    return faults
  }

  /// `+3.2 %`
  package func change(_ count: InstructionCount) -> String {
    let percent = (count.instructionsPerPush / instructionsPerPush - 1) * 100
    return (percent > 0 ? "+" : "") + Figure.text(percent, decimals: 1) + " %"
  }

  /// Whether the count is so much better that the baseline would let a relapse pass.
  package func isOutdone(by count: InstructionCount) -> Bool {
    count.instructionsPerPush < instructionsPerPush * (1 - Self.instructionsTolerance)
      || count.allocationsPerPush < allocationsPerPush - Self.allocationsTolerance
  }
}
