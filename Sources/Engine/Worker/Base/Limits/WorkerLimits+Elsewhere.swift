// Jobs that a lane has for other shards.
extension WorkerLimits {
  /// Jobs that wait in a lane to be added in one other shard, their bytes, and how many of them and how many bytes are added in
  /// one go.
  static let jobsElsewhereMax = 1_000
  static let jobsElsewhereBytesMax = 16 * 1024 * 1024
  static let jobsElsewhereAtOnceMax = 64
  static let bytesElsewhereAtOnceMax = 1024 * 1024
  /// The wait after a job could not be added there, or ended here.
  static let elsewherePauseMs: UInt64 = 500
  /// How long a job is held that cannot be added there, before it waits as one of an app that no worker has: long enough for a
  /// Redis to be restarted or a replica to take over.
  static let heldElsewhereMs: UInt64 = 120_000
  /// The age of a job from which on its time to live is passed on as an instant. A younger one goes as it is: added in both shards
  /// it is the same job.
  static let lateElsewhereMs: Int64 = 60_000
  /// Between two looks whether jobs of another shard wait here; whoever adds one wakes the lane.
  static let strayLookMs: UInt64 = 1_000
  static let jobsElsewhereMs: UInt64 = 60_000
  /// Leases that are renewed by one call.
  static let leasesElsewhereMax = 256
}
