/// The result for a push that could be sent.
enum Submission {
  case sent
  /// The push was decided without being sent, or put aside.
  case withdrawn
  /// The connection takes no more.
  case blocked
}

/// The result for pushes that could be sent in one request.
enum BatchSubmission {
  /// How many of them were sent.
  case sent(Int)
  /// The pushes were decided without being sent, or put aside.
  case withdrawn
  /// The connection takes no more; these are still to be sent.
  case blocked([UInt64])
}
