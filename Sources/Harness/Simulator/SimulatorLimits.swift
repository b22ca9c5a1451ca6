/// The limits of the simulator. Those of one network stand in its folder.
package enum SimulatorLimits {
  /// How deep a JSON body may nest.
  static let jsonDepthMax = 64
  /// How far in the future a token may have been issued: clocks differ.
  static let clockSkewMaxSeconds: Int64 = 300
  /// Verified authorization texts that are remembered.
  static let rememberedAuthorizationsMax = 1_024
  static let authorizationBytesMax = 4_096
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
