internal import ArgumentParser
internal import Model
internal import Operations

/// The action that `pushpool job` is told to take.
enum JobVerb: String, CaseIterable, ExpressibleByArgument {
  case show, cancel, pause, resume, pace

  /// The refusal when the job had ended before; nil for what can always be done.
  var refusal: String? {
    switch self {
    case .show: nil
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
      }
    if let value, self != .pace {
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
}
