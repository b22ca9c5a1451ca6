internal import ArgumentParser
internal import Operations

extension JobAction: ExpressibleByArgument {
  /// What is said when the job had ended before; nil for what can always be done.
  var refusal: String? {
    switch self {
    case .show: nil
    case .cancel: "it cannot be cancelled any more"
    case .pause: "it cannot be paused any more"
    case .resume: "it cannot be resumed any more"
    }
  }
}
