import Model

extension APNsPushType {
  /// The part that follows the bundle identifier in `apns-topic` (developer.apple.com, "Sending notification requests
  /// to APNs").
  var topicSuffix: String? {
    switch self {
    case .alert, .background, .mdm: nil
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushToTalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  /// `topic` with the suffix of this push type, unless it has it already.
  func topic(_ topic: String) -> String {
    guard let suffix = topicSuffix, !topic.hasSuffix(suffix) else { return topic }
    return topic + suffix
  }

  var payloadBytesMax: Int {
    self == .voip ? ProviderLimits.apnsVoIPPayloadBytesMax : ProviderLimits.apnsPayloadBytesMax
  }
}
