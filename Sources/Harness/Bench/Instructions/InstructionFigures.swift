/// The figures that are held against the committed ones.
package struct InstructionFigures: Sendable, Equatable {
  /// The count for a push of a campaign.
  package var push: InstructionCount
  /// The count for a job, in a backlog of jobs to one user each.
  package var job: InstructionCount

  package init(push: InstructionCount, job: InstructionCount) {
    self.push = push
    self.job = job
  }

  package var text: String { "\(push.text) per push, \(job.text) per job of one user" }
}

/// The instructions of the worker for a push of a campaign, or for a job of one user, in the steady state.
package struct InstructionCount: Sendable, Equatable {
  package var instructions: Double
  package var allocations: Double

  package init(instructions: Double, allocations: Double) {
    self.instructions = instructions
    self.allocations = allocations
  }

  /// The difference of two runs that did as much but for so many pushes or jobs, which what start and end cost is not in.
  init(_ few: CallgrindProfile, _ many: CallgrindProfile, count: Int) {
    instructions = Double(many.instructions - few.instructions) / Double(count)
    allocations = Double(many.allocations - few.allocations) / Double(count)
  }

  package var text: String {
    "\(Figure.text(instructions, decimals: 0)) instructions and "
      + "\(Figure.text(allocations, decimals: 2)) allocations"
  }
}
