/// Values of the header `apns-push-type`.
package enum APNsPushType: String, Sendable, Hashable, CaseIterable {
  case alert, background, voip, complication, fileprovider, mdm, liveactivity, location
  case pushToTalk = "pushtotalk"
  case widgets, controls
}
