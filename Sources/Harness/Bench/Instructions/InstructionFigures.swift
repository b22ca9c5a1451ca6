/// What is held against the committed figures.
package struct InstructionFigures: Sendable, Equatable {
  /// Of a campaign.
  package var push: InstructionCount
  /// Of a backlog of jobs to one user each.
  package var job: InstructionCount

  package init(push: InstructionCount, job: InstructionCount) {
    self.push = push
    self.job = job
  }

  package var text: String { "\(push.text) per push, \(job.text) per job of one user" }
}
