/// The settings of a run when nothing else is asked for.
package enum ChaosDefaults {
  package static let seed: UInt64 = 1
  package static let soakMinutes = 5.0
}
