internal import Glibc

/// How many messages a second a project may have: a token bucket, full at first.
struct FCMQuota {
  /// Messages that may come at once, in seconds of the rate.
  static let burstSeconds = 0.25

  private struct Bucket {
    var tokens: Double
    var atNs: UInt64
  }

  /// nil for as many as come.
  var perSecond: Int? { didSet { if perSecond != oldValue { buckets = [:] } } }
  private var buckets: [String: Bucket] = [:]

  /// Counts a message. - Returns: whether it is one too many.
  mutating func isOver(_ project: UnsafeRawBufferPointer) -> Bool {
    guard let perSecond else { return false }
    return isOver(String(decoding: project, as: UTF8.self), perSecond, nowNs: Self.nowNs())
  }

  mutating func isOver(_ project: String, _ perSecond: Int, nowNs: UInt64) -> Bool {
    let most = max(1, Double(perSecond) * Self.burstSeconds)
    var bucket = buckets[project] ?? Bucket(tokens: most, atNs: nowNs)
    let seconds = Double(nowNs - min(nowNs, bucket.atNs)) / 1_000_000_000
    bucket.tokens = min(most, bucket.tokens + seconds * Double(perSecond))
    bucket.atNs = nowNs
    let isOver = bucket.tokens < 1
    if !isOver { bucket.tokens -= 1 }
    buckets[project] = bucket
    return isOver
  }

  private static func nowNs() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
