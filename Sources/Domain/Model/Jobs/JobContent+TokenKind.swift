extension JobContent {
  /// Which of a user's tokens of APNs the job is for: each push type has its own.
  package var apnsTokenKind: TokenKind {
    switch apns?.pushType {
    case nil, .alert, .background, .mdm: .alert
    case .voip: .voip
    case .complication: .complication
    case .fileprovider: .fileProvider
    case .liveactivity: apns?.liveActivityEvent == .start ? .pushToStart : .liveActivity
    case .location: .location
    case .pushToTalk: .pushToTalk
    case .widgets: .widgets
    case .controls: .controls
    }
  }
}
