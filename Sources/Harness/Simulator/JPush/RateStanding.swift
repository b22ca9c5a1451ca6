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
