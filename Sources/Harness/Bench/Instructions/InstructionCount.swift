/// What the worker executes for a push in the steady state.
package struct InstructionCount: Sendable, Equatable {
  package var instructionsPerPush: Double
  package var allocationsPerPush: Double

  package init(instructionsPerPush: Double, allocationsPerPush: Double) {
    self.instructionsPerPush = instructionsPerPush
    self.allocationsPerPush = allocationsPerPush
  }

  /// The difference of two campaigns, which what start and end cost is not in.
  init(_ few: CallgrindProfile, _ many: CallgrindProfile, pushes: Int) {
    instructionsPerPush = Double(many.instructions - few.instructions) / Double(pushes)
    allocationsPerPush = Double(many.allocations - few.allocations) / Double(pushes)
  }

  package var text: String {
    "\(Figure.text(instructionsPerPush, decimals: 0)) instructions and "
      + "\(Figure.text(allocationsPerPush, decimals: 2)) allocations per push"
  }
}
