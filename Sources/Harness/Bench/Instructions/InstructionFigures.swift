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
