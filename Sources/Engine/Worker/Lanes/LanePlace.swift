/// The place that a lane works at, as far as the lane knows it.
struct LanePlace {
  /// Whether the Redis is known to be the lane's shard, and not another one of the fleet.
  var isShard: Bool
  /// Why it is not.
  var misplacement: String?
  /// Whether it is being looked at.
  var isClaiming = false
}
