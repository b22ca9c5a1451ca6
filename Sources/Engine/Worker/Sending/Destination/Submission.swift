/// What became of a push that could be sent.
enum Submission {
  case sent
  /// It was decided without being sent, or put aside.
  case withdrawn
  /// The connection takes no more.
  case blocked
}

/// What became of pushes that could be sent in one request.
enum BatchSubmission {
  /// So many of them were sent.
  case sent(Int)
  /// They were decided without being sent, or put aside.
  case withdrawn
  /// The connection takes no more; these are still to be sent.
  case blocked([UInt64])
}
