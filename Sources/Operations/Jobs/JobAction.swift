package import Model

/// An operator's action on a job.
package enum JobAction: Sendable, Equatable {
  case show, cancel, pause, resume
  /// Keep to so many pushes a second; nil for as many as there can be.
  case pace(perSecond: Int?)

  /// Whether a job that is in this state afterwards had ended before the action.
  package func wasTooLate(_ state: JobState) -> Bool {
    switch self {
    case .show: false
    case .cancel: state == .done
    case .pause, .resume, .pace: state.isFinal
    }
  }
}
