/// The kind of event that a line of a trace tells.
package enum TraceKind: String, Sendable, CaseIterable {
  /// The request was handed to a connection; of jobs that ask for a full trace only.
  case sent
  /// The network answered, and this followed.
  case answered
  /// Written, and no answer came: the network may have processed it.
  case unanswered
  /// Certainly not processed by the network.
  case unprocessed
  /// Decided without a request.
  case decided
  /// The store's decision about a token that was called dead.
  case settled
  /// A number of events that are not recorded.
  case omitted
}
