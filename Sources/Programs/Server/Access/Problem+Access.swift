internal import Typesetting

extension Problem {
  /// Nobody was named, or somebody whom this server does not know.
  static func unauthorized(_ detail: String) -> Problem {
    var problem = Problem(401, "unauthorized", detail)
    problem.headers = [(name: "www-authenticate", value: "Bearer realm=\"pushpool\"")]
    return problem
  }

  /// The caller is known, and may not do this.
  package static func forbidden(_ detail: String) -> Problem { Problem(403, "forbidden", detail) }

  /// The answer about an app that is not there, and about one that is not the caller's: the two look the same.
  package static func unknownApp(_ app: String) -> Problem {
    .notFound("there is no app \(DisplayText.fitted(DisplayText.printable(app), columns: 64))")
  }

  /// As many of the caller's searches wait as may.
  static var tooManySearches: Problem {
    var problem = Problem(
      429, "too many requests",
      "\(ServerLimits.searchesMax) requests of this key that read much are in hand, and "
        + "\(ServerLimits.waitingSearchesMax) wait for them: send fewer at a time, and try again in 1 s"
    )
    problem.retryAfterS = 1
    return problem
  }

  /// The caller's rate is used up (RFC 6585; the fields of draft-ietf-httpapi-ratelimit-headers).
  static func tooMany(_ plan: RatePlan, waitSeconds: Int) -> Problem {
    var problem = Problem(
      429, "too many requests",
      "\(plan.words): at most \(Int(plan.perSecond)) a second; try again in \(waitSeconds) s")
    problem.retryAfterS = waitSeconds
    problem.headers = [
      (
        name: "ratelimit-policy",
        value: "\"\(plan.name)\";q=\(Int(plan.burst));w=\(plan.refillSeconds)"
      ), (name: "ratelimit", value: "\"\(plan.name)\";r=0;t=\(waitSeconds)"),
    ]
    return problem
  }
}
