/// The result of a row.
package struct RowResult: Sendable {
  package let number: Int
  package let fault: String
  /// How often the fault was brought about.
  package var runs = 0
  package var pushes = 0
  package var lost = 0
  package var duplicates = 0
  /// How many duplicates are allowed.
  package var duplicatesMax = 0
  package var phantoms = 0
  /// The longest time until work went on.
  package var recoverySeconds: Double?
  package var seconds = 0.0
  /// Sentences about what was not kept; empty when the row passes.
  package private(set) var failures: [String] = []
  /// Sentences about what else a reader should know.
  package private(set) var notes: [String] = []
  /// Why the row was not run; such a row has not passed.
  package var notRun: String?

  package init(_ number: Int, _ fault: String) {
    self.number = number
    self.fault = fault
  }

  package var isPassed: Bool { failures.isEmpty && notRun == nil }

  mutating func fail(_ sentence: String) { failures.append(sentence) }

  mutating func note(_ sentence: String) { notes.append(sentence) }

  /// Fails unless `isKept`.
  mutating func expect(_ isKept: Bool, _ sentence: @autoclosure () -> String) {
    if !isKept { fail(sentence()) }
  }

  mutating func noteRecovery(_ seconds: Double) {
    recoverySeconds = max(recoverySeconds ?? 0, seconds)
  }

  mutating func expectRecovery(within limitSeconds: Double) {
    guard let recoverySeconds else { return fail("no recovery was measured") }
    expect(
      recoverySeconds <= limitSeconds,
      "recovery took \(tenths(recoverySeconds)) s, at most \(tenths(limitSeconds)) s are allowed")
  }

  /// Adds what the log and the records say.
  /// - Parameter duplicatesMax: those that the faults of this reckoning explain.
  mutating func take(_ reckoning: Reckoning, duplicatesMax allowed: Int, _ name: String = "") {
    let start = name.isEmpty ? "" : "\(name): "
    pushes += reckoning.pushes
    lost += reckoning.lost
    duplicates += reckoning.duplicates
    duplicatesMax += allowed
    phantoms += reckoning.phantoms + reckoning.late
    expect(reckoning.lost == 0, "\(start)\(reckoning.lost) pushes were lost")
    expect(
      reckoning.duplicates <= allowed,
      "\(start)\(reckoning.duplicates) duplicates, at most \(allowed) are explained")
    expect(reckoning.phantoms == 0, "\(start)\(reckoning.phantoms) accepts that nobody enqueued")
    expect(
      reckoning.late == 0, "\(start)\(reckoning.late) requests began over a second after the stop")
    expect(reckoning.unfinished == 0, "\(start)\(reckoning.unfinished) jobs did not finish")
    expect(reckoning.unbalanced == 0, "\(start)\(reckoning.unbalanced) records do not add up")
    expect(
      reckoning.miscounted == 0,
      "\(start)\(reckoning.miscounted) pushes are counted otherwise than the log has them")
    if !isPassed { for example in reckoning.examples { note("\(start)\(example)") } }
  }

  /// Tells of one phase what the row tells of all together.
  /// - Parameters:
  ///   - allowed: the duplicates that its faults explain.
  ///   - recoverySeconds: the longest time until work went on; nil where it was not measured.
  mutating func note(
    phase name: String, _ reckoning: Reckoning, duplicatesMax allowed: Int, recoverySeconds: Double?
  ) {
    let recovery =
      recoverySeconds.map { "work went on after \(tenths($0)) s at the latest; " } ?? ""
    note(
      "\(name): \(recovery)of \(reckoning.pushes) pushes \(reckoning.lost) were lost and "
        + "\(reckoning.duplicates) sent twice, \(allowed) at most")
  }

  /// Expects as `take` does, for faults that explain no push but an accepted one.
  mutating func expectAllAccepted(_ reckoning: Reckoning, _ name: String = "") {
    let start = name.isEmpty ? "" : "\(name): "
    expect(reckoning.failed == 0, "\(start)\(reckoning.failed) pushes were given up")
    expect(reckoning.rejected == 0, "\(start)\(reckoning.rejected) pushes count as rejected")
    expect(reckoning.skipped == 0, "\(start)\(reckoning.skipped) pushes count as skipped")
    expect(
      reckoning.otherwise == 0,
      "\(start)\(reckoning.otherwise) pushes count as expired or uninstalled")
  }
}

/// A number with one decimal.
func tenths(_ value: Double) -> String {
  let tenths = Int((value * 10).rounded())
  return "\(tenths / 10).\(abs(tenths % 10))"
}
