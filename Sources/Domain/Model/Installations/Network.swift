/// A push network.
package enum Network: String, Sendable, Hashable, CaseIterable {
  case apns, fcm, jpush
}
