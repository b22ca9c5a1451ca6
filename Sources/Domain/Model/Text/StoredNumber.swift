/// Numbers as Redis holds and answers them, kept far from the ends of their types.
///
/// Another program, another version or a damaged server may have left any number there. What is computed with them must
/// not overflow, which ends the process.
package enum StoredNumber {
  /// Beyond all that can be counted here, and so small that sums of thousands fit an Int.
  static let countMax = 1 << 48

  /// A number of things. Negative ones are kept: they show that something is wrong.
  package static func count(_ number: Int) -> Int { min(max(number, -countMax), countMax) }

  /// An instant in epoch milliseconds.
  package static func instantMs(_ number: Int64) -> Int64 {
    min(max(number, 0), Limits.instantMsMax)
  }
}
