/// The store did something else than the model, or the model something that must never happen.
struct Mismatch: Error, CustomStringConvertible {
  let what: String
  var seed: UInt64 = 0
  var step = 0
  var history: [String] = []

  var description: String {
    """
    \(what)
    at step \(step) of seed \(seed); again: PUSHPOOL_PROPERTY_SEED=\(seed) PUSHPOOL_PROPERTY_STEPS=\(step + 1)
    the last operations:
    \(history.map { "  " + $0 }.joined(separator: "\n"))
    """
  }
}

func expectSame<Value: Equatable>(
  _ found: Value, _ expected: Value, _ what: @autoclosure () -> String
) throws {
  guard found != expected else { return }
  throw Mismatch(what: "\(what()): the store says \(found), the model \(expected)")
}
