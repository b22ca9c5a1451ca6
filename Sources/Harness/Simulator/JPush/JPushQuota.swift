/// How many calls an app key has left in the minute (docs.jiguang.cn/jpush/server/push/server_overview, "API 频率控制").
struct JPushQuota {
  static let windowSeconds: Int64 = 60

  private struct Window {
    var endsAtSeconds: Int64
    var calls = 0
  }

  var callsPerMinute = SimulatorLimits.jpushCallsPerMinute
  private var windows: [String: Window] = [:]

  /// Counts one call. - Returns: what every answer says of the quota, and whether there was none left for this call.
  mutating func take(_ appKey: String, nowSeconds: Int64) -> (standing: RateStanding, isOver: Bool)
  {
    var window =
      windows[appKey] ?? Window(endsAtSeconds: nowSeconds + Self.windowSeconds)
    if nowSeconds >= window.endsAtSeconds {
      window = Window(endsAtSeconds: nowSeconds + Self.windowSeconds)
    }
    let isOver = window.calls >= callsPerMinute
    if !isOver { window.calls += 1 }
    windows[appKey] = window
    let standing = RateStanding(
      limit: callsPerMinute, remaining: callsPerMinute - window.calls,
      resetSeconds: Int(window.endsAtSeconds - nowSeconds))
    return (standing, isOver)
  }
}

/// The standing of JPush's quota, told with each answer: the headers X-Rate-Limit-Limit, -Remaining and -Reset.
struct RateStanding {
  let limit: Int
  var remaining: Int
  /// Until calls are counted anew.
  var resetSeconds: Int

  var headers: [(name: String, value: String)] {
    [
      ("x-rate-limit-limit", String(limit)), ("x-rate-limit-remaining", String(remaining)),
      ("x-rate-limit-reset", String(resetSeconds)),
    ]
  }
}
