import LocalServices

/// What every scenario is run with.
struct Circumstances: Sendable {
  let programs: Programs
  /// Pushes of a campaign.
  let pushes: Int
  /// How often worker and yardstick take turns.
  let runs: Int
  /// Whether to include what takes long.
  let isFull: Bool
  let progress: ProgressLine
}
