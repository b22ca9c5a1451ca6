// The limits of the simulated APNs.
extension SimulatorLimits {
  /// APNs: the largest payload of any push type but VoIP.
  static let apnsPayloadBytesMax = 4_096
  /// APNs: the largest VoIP payload.
  static let apnsVoIPPayloadBytesMax = 5_120
  /// APNs: the longest apns-collapse-id.
  static let collapseIDBytesMax = 64
  /// APNs: the longest hex device token; today's have 64 digits, Live Activity tokens more.
  static let apnsTokenBytesMax = 400
  /// APNs: a provider token older than this is expired.
  static let providerTokenAgeMaxSeconds: Int64 = 3_600
  /// APNs: a team's provider token may change no more often than this.
  package static let providerTokenIntervalSeconds: Int64 = 1_200
}
