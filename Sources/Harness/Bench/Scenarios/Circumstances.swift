import LocalServices

/// The circumstances that every scenario is run in.
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
