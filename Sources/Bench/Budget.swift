/// A figure that the program promises, and whether this run keeps it.
package struct Budget: Sendable, Equatable {
  package enum Direction: Sendable { case atMost, atLeast }

  package var what: String
  package var measured: Double
  package var direction: Direction
  package var limit: Double
  /// After the numbers: `x`, ` MiB`, ` ms`, ` %`.
  package var unit: String
  /// Whether the program fails when it is missed; else it is a goal that is only shown.
  package var isRequired: Bool

  package init(
    _ what: String, _ measured: Double, _ direction: Direction, _ limit: Double, unit: String,
    isRequired: Bool = false
  ) {
    self.what = what
    self.measured = measured
    self.direction = direction
    self.limit = limit
    self.unit = unit
    self.isRequired = isRequired
  }

  /// A figure that is not a number was not measured, and is not met.
  package var isMet: Bool {
    switch direction {
    case .atMost: measured <= limit
    case .atLeast: measured >= limit
    }
  }

  /// `met`, `missed` for what is required and `open` for a goal that is not reached yet.
  package var verdict: String { isMet ? "met" : isRequired ? "missed" : "open" }

  package var limitText: String {
    (direction == .atMost ? "≤ " : "≥ ") + Figure.text(limit, decimals: 1) + unit
  }

  package var measuredText: String { Figure.text(measured, decimals: 2) + unit }
}
