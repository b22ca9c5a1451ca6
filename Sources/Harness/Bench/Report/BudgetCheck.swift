/// A budget beside what was measured.
package struct BudgetCheck: Sendable, Equatable {
  package var budget: Budget
  package var measured: Double

  package init(_ budget: Budget, _ measured: Double?) {
    self.budget = budget
    self.measured = measured ?? .nan
  }

  /// A figure that is not a number was not measured, and is not met.
  package var isMet: Bool { keeps(budget.limit) }

  package var reachesAim: Bool { keeps(budget.aim ?? budget.limit) }

  package var verdict: String { !isMet ? "MISSED" : reachesAim ? "met, aim too" : "met" }

  package var measuredText: String { Figure.text(measured, decimals: 2) + budget.unit }

  private func keeps(_ figure: Double) -> Bool {
    switch budget.direction {
    case .atMost: measured <= figure
    case .atLeast: measured >= figure
    }
  }
}
