/// Repeated measurements of one figure.
package enum Samples {
  /// The middle one; of an even number the mean of the two in the middle. Nil without any.
  package static func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The smallest value that at least this part of all values does not exceed (nearest rank).
  package static func percentile(_ values: [Double], _ part: Double) -> Double? {
    guard !values.isEmpty else { return nil }
    let rank = Int((part * Double(values.count)).rounded(.up))
    return values.sorted()[min(max(rank, 1), values.count) - 1]
  }
}
