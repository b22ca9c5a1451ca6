package import Model

/// What an operator does with a job.
package enum JobAction: String, Sendable, CaseIterable {
  case show, cancel, pause, resume

  /// Whether a job that is in this state afterwards had ended before the action.
  package func wasTooLate(_ state: JobState) -> Bool {
    switch self {
    case .show: false
    case .cancel: state == .done
    case .pause, .resume: state.isFinal
    }
  }
}
