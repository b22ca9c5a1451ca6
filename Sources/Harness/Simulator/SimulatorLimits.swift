/// The limits of the simulator, one home for all of them.
package enum SimulatorLimits {
  /// APNs: the largest payload of any push type but VoIP.
  static let apnsPayloadBytesMax = 4_096
  /// APNs: the largest VoIP payload.
  static let apnsVoIPPayloadBytesMax = 5_120
  /// APNs: the longest apns-collapse-id.
  static let collapseIDBytesMax = 64
  /// APNs: the longest hex device token; today's have 64 digits, Live Activity tokens more.
  static let apnsTokenBytesMax = 400
  /// FCM: the largest notification and data, as it counts them.
  static let fcmMessageBytesMax = 4_096
  /// FCM: what it was seen to count for a message with one entry and for each entry, beside names and values.
  static let fcmFramingBytes = 39
  static let fcmEntryFramingBytes = 6
  static let fcmTokenBytesMax = 4_096
  /// JPush: the member `ios` of a notification, name and braces included.
  static let jpushIOSBytesMax = 2_000
  /// JPush: the Android notification and the message together.
  static let jpushAndroidBytesMax = 4_000
  static let jpushRegistrationIDsMax = 1_000
  static let jpushRegistrationIDBytesMax = 128
  static let jpushTimeToLiveSecondsMax: Int64 = 864_000
  /// JPush's accepted requests with a cid that are remembered; the oldest gives way.
  static let jpushCIDsMax = 10_000
  /// JPush: calls of an app key in a minute; its free plan has 600.
  package static let jpushCallsPerMinute = 1_000_000_000
  /// How deep a JSON body may nest.
  static let jsonDepthMax = 64
  /// APNs: a provider token older than this is expired.
  static let providerTokenAgeMaxSeconds: Int64 = 3_600
  /// How far in the future a token may have been issued: clocks differ.
  static let clockSkewMaxSeconds: Int64 = 300
  /// APNs: a team's provider token may change no more often than this.
  package static let providerTokenIntervalSeconds: Int64 = 1_200
  /// Verified authorization texts that are remembered.
  static let rememberedAuthorizationsMax = 1_024
  static let authorizationBytesMax = 4_096
  /// Bearer tokens that live at a time; the oldest gives way.
  static let bearerTokensMax = 10_000
  package static let bearerLifetimeSeconds: Int64 = 3_600
  /// Heads of answers that are prepared; further kinds are made for each answer.
  static let preparedHeadsMax = 1_024
  /// How many streams APNs allows on a connection that has authorised itself.
  package static let concurrentStreams: UInt32 = 1_000
  /// Bytes of accept log that are gathered before they are written even within a turn.
  static let acceptLogBufferBytes = 256 * 1024
  /// The most that an accept log's line has beside its token and topic.
  static let acceptLineOverheadBytes = 128
  /// The amounts that are shown of a received request: of a device token in a path, twice as much when it has no more;
  static let shownTokenCharacters = 8
  /// of a path without it, and of a header field,
  static let shownPathCharactersMax = 100
  static let shownHeaderCharactersMax = 100
  /// of a body that is JSON, and of one that is other text,
  static let shownBodyBytesMax = 2_048
  static let shownTextBytesMax = 512
  /// and of an answer that is an error.
  static let shownAnswerBytesMax = 200
  /// The largest script file.
  package static let scriptBytesMax = 4 * 1024 * 1024
  package static let scriptRulesMax = 10_000
  /// The longest header field of a script.
  static let scriptHeaderBytesMax = 1_000
  /// The largest key or service account file.
  static let keyFileBytesMax = 64 * 1024
  /// Stream resets, at once and per second, that stand for "as many as they like".
  static let resetsTolerated: UInt64 = 1 << 32
}
