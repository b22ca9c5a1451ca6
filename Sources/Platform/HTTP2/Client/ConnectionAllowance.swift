/// How many requests a connection takes, and how many at once.
struct ConnectionAllowance {
  /// The number of streams that the server allows at once; nil until its SETTINGS arrived.
  var streamsAllowed: Int?
  /// Whether an answer has shown that the credential is accepted.
  var isAuthorised: Bool
  /// How many requests it takes, then it drains: what its pool has learned of the server.
  var requestsMax = Int.max
  /// How many streams it uses at most, when connections have broken lately: what they would take with them is spread.
  var streamsMax: Int

  init(_ settings: ClientSettings) {
    isAuthorised = !settings.startsWithOneStream
    streamsMax = settings.streamsMax
  }

  /// How many requests may be in flight.
  var streams: Int {
    guard let streamsAllowed else { return 0 }
    return isAuthorised ? min(streamsAllowed, streamsMax) : min(streamsAllowed, 1)
  }
}
