/// The middle of a campaign, without its start and its last pushes.
enum SteadyPart {
  /// Pushes per second between the first points beyond the two bounds; nil when there are no such two.
  static func rate(_ points: [Campaign.Point], of pushes: Int) -> Double? {
    let from = Double(pushes) * BenchLimits.steadyFrom
    let to = Double(pushes) * BenchLimits.steadyTo
    guard let first = points.first(where: { Double($0.accepted) >= from }),
      let last = points.last(where: { Double($0.accepted) <= to }),
      last.atSeconds > first.atSeconds
    else { return nil }
    return Double(last.accepted - first.accepted) / (last.atSeconds - first.atSeconds)
  }
}
