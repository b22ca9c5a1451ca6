internal import HTTP2Server

/// A decision that waits for the accept log, and maybe for its delay.
struct PendingAnswer {
  let connection: SimulatedConnection
  let request: ServerRequest
  /// The request objects are reused: this tells whether it is still the same request.
  let use: UInt64
  var reaction: Decision.Reaction
  var isAccepted: Bool
  /// Cuts the connection instead of answering, after the accept was logged.
  let isCut: Bool

  var isCurrent: Bool {
    connection.isOpen && request.use == use && !request.isClosed
  }
}
