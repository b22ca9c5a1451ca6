import Model

/// The committed figures that a change is held against.
package struct InstructionsBaseline: Sendable, Equatable {
  /// The day it was measured, `2026-11-21`.
  package var date: String
  /// The circumstances that decide the figures besides: see ``Platform``.
  package var platform: String
  package var figures: InstructionFigures

  /// How much more is a failure. Runs differ by less than 2 %, on a machine with ten times the load it can
  /// bear: timers and turns of the loop that it has more of for each push then.
  package static let tolerance = 0.05
  /// The tolerance for a job: how many are taken in together, and so share a call, goes by how busy the machine is.
  /// Runs differ by 3 %.
  package static let jobTolerance = 0.1
  /// For the same reason a push's allocations differ by up to 0.4; another allocation in each push is 1.
  package static let allocationsTolerance = 0.5

  package init(date: String, platform: String, _ figures: InstructionFigures) {
    self.date = date
    self.platform = platform
    self.figures = figures
  }

  package init(json: [UInt8]) throws(BenchError) {
    guard let object = (try? JSONParser().parse(json))?.objectValue,
      let date = object["date"]?.stringValue, let platform = object["platform"]?.stringValue,
      let push = Self.count("push", in: object), let job = Self.count("job", in: object)
    else {
      throw BenchError(
        "the baseline needs date, platform, and instructions and allocations per push and per job; "
          + "write it anew with --update")
    }
    self.init(date: date, platform: platform, InstructionFigures(push: push, job: job))
  }

  private static func count(_ what: String, in object: JSONObject) -> InstructionCount? {
    func number(_ name: String) -> Double? {
      if case .number(let number)? = object["\(name)_per_\(what)"] { number.double } else { nil }
    }
    guard let instructions = number("instructions"), let allocations = number("allocations")
    else { return nil }
    return InstructionCount(instructions: instructions, allocations: allocations)
  }

  package var json: String {
    """
    {
      "what": "User-space instructions and C allocations of a worker per push and per job of one user: scripts/instructions",
      "date": "\(date)",
      "platform": "\(platform)",
      "instructions_per_push": \(Self.plain(figures.push.instructions, decimals: 0)),
      "allocations_per_push": \(Self.plain(figures.push.allocations, decimals: 2)),
      "instructions_per_job": \(Self.plain(figures.job.instructions, decimals: 0)),
      "allocations_per_job": \(Self.plain(figures.job.allocations, decimals: 2))
    }

    """
  }

  private static func plain(_ value: Double, decimals: Int) -> String {
    Figure.text(value, decimals: decimals).filter { $0 != "," }
  }

  /// Sentences about what got worse; none when the figures hold.
  package func faults(of new: InstructionFigures) -> [String] {
    faults("push", figures.push, new.push, Self.tolerance)
      + faults("job", figures.job, new.job, Self.jobTolerance)
  }

  private func faults(
    _ what: String, _ old: InstructionCount, _ new: InstructionCount, _ tolerance: Double
  ) -> [String] {
    var faults: [String] = []
    if new.instructions > old.instructions * (1 + tolerance) {
      faults.append(
        "A \(what) takes \(Figure.text(new.instructions, decimals: 0)) instructions, "
          + "\(Self.change(old, new)) against the \(Figure.text(old.instructions, decimals: 0)) of \(date)."
      )
    }
    if new.allocations > old.allocations + Self.mayVary(old, tolerance) {
      faults.append(
        "A \(what) takes \(Figure.text(new.allocations, decimals: 2)) allocations; on \(date) "
          + "it took \(Figure.text(old.allocations, decimals: 2)).")
    }
    return faults
  }

  private static func mayVary(_ old: InstructionCount, _ tolerance: Double) -> Double {
    max(allocationsTolerance, old.allocations * tolerance)
  }

  /// `+3.2 % per push, -0.4 % per job`
  package func change(_ new: InstructionFigures) -> String {
    "\(Self.change(figures.push, new.push)) per push, \(Self.change(figures.job, new.job)) per job"
  }

  private static func change(_ old: InstructionCount, _ new: InstructionCount) -> String {
    let percent = (new.instructions / old.instructions - 1) * 100
    return (percent > 0 ? "+" : "") + Figure.text(percent, decimals: 1) + " %"
  }

  /// Whether a count is so much better that the baseline would let a relapse pass.
  package func isOutdone(by new: InstructionFigures) -> Bool {
    Self.isOutdone(figures.push, by: new.push, Self.tolerance)
      || Self.isOutdone(figures.job, by: new.job, Self.jobTolerance)
  }

  private static func isOutdone(
    _ old: InstructionCount, by new: InstructionCount, _ tolerance: Double
  ) -> Bool {
    new.instructions < old.instructions * (1 - tolerance)
      || new.allocations < old.allocations - mayVary(old, tolerance)
  }
}
