internal import Model

extension Priority {
  /// The place in queues: 0 is sent first.
  var rank: Int {
    switch self {
    case .high: 0
    case .normal: 1
    case .low: 2
    }
  }
}
