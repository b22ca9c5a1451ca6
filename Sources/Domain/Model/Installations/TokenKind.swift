/// The kind of push that a device token of APNs is for. Its system gives an app one for each, and a push of another
/// kind to it is refused or lost; tokens of the other networks are for alerts (developer.apple.com, "Sending
/// notification requests to APNs").
package enum TokenKind: String, Sendable, Hashable, CaseIterable {
  /// Alerts and background pushes.
  case alert
  case voip
  /// A Live Activity that runs; it has a token of its own.
  case liveActivity = "liveactivity"
  /// Starting a Live Activity.
  case pushToStart = "pushtostart"
  case complication, widgets, controls, location
  case pushToTalk = "pushtotalk"
  case fileProvider = "fileprovider"
}
