internal import ArgumentParser
internal import Model
internal import Operations

/// The action that `pushpool job` is told to take.
enum JobVerb: String, CaseIterable, ExpressibleByArgument {
  case show, cancel, pause, resume, pace, at

  /// The refusal when the job had ended before; nil for what can always be done.
  var refusal: String? {
    switch self {
    case .show, .at: nil
    case .cancel: "it cannot be cancelled any more"
    case .pause: "it cannot be paused any more"
    case .resume: "it cannot be resumed any more"
    case .pace: "nothing of it is left to be sent"
    }
  }

  /// - Parameter value: what stands behind it.
  func action(_ value: String?) throws(ValidationError) -> JobAction {
    let action: JobAction =
      switch self {
      case .show: .show
      case .cancel: .cancel
      case .pause: .pause
      case .resume: .resume
      case .pace: .pace(perSecond: try Self.perSecond(value))
      case .at: .reschedule(atMs: try Self.instantMs(value))
      }
    if let value, self != .pace, self != .at {
      throw ValidationError("\(rawValue) takes no value, and \"\(value)\" stands behind it")
    }
    return action
  }

  private static func perSecond(_ value: String?) throws(ValidationError) -> Int? {
    guard value != "off" else { return nil }
    guard let number = value.flatMap({ Int($0) }), (1...Limits.pushesPerSecondMax).contains(number)
    else {
      throw ValidationError(
        "pace takes the pushes a second, 1 to \(Limits.pushesPerSecondMax), or off: pushpool job spring-sale pace 500"
      )
    }
    return number
  }

  /// Nil for now.
  private static func instantMs(_ value: String?) throws(ValidationError) -> Int64? {
    guard value != "now" else { return nil }
    let ms = value.flatMap { Int64($0) ?? RFC3339.milliseconds($0) }
    guard let ms, (Limits.recentInstantMsMin...Limits.instantMsMax).contains(ms) else {
      throw ValidationError(
        "at takes an instant, RFC 3339 or epoch milliseconds, or now: pushpool job spring-sale at 2026-12-01T09:00:00Z"
      )
    }
    return ms
  }
}
