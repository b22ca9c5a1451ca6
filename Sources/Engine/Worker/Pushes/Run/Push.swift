internal import Model

/// One notification to one installation, from its resolution to its outcome.
struct Push {
  /// The decision about it.
  enum Decision: UInt8 {
    /// Waiting to be sent, or in flight.
    case open
    case accepted, rejected, expired, skipped, failed
    /// To be tried again later, by a residual chunk.
    case later
    /// For a worker that has credentials which this one lacks; skipped if there is none, which the store decides.
    case unrouted
    /// The provider said that the token is dead; the store decides whether that holds.
    case invalid
  }

  /// The device token; it lives in the run's arena.
  let token: UnsafeRawBufferPointer
  /// Who is meant; it lives in the run's arena.
  let user: UnsafeRawBufferPointer
  /// The binding's generation when it was read.
  var generation: UInt64
  /// Which of the chunk's recipients it belongs to: first its user, then itself if the user is done without it.
  var recipient: Int32
  let network: Network
  let environment: PushEnvironment
  /// Which attempt this is, from 1.
  let attempt: UInt8
  /// Which of the lane's destinations it goes to.
  var target: PushTarget
  /// Whether its own environment has called the token bad, so it is tried in the other one.
  var isRedirected = false
  var decision = Decision.open
  /// Times it came back unprocessed in this run.
  var resends: UInt8 = 0
  /// The most pushes that may share its request, since a larger one was refused; 0 when none was.
  var togetherMax: UInt16 = 0
  /// Which of the job's `MessageVariants` it is sent as, by its installation's language.
  var variant: UInt8 = 0
  /// The row of values that its texts are filled with.
  var variables = VariableTable.Row.none
  /// The badge of its installation for the job; 0 when the job raises none.
  var badge: Int32 = 0
  /// When its binding was read, in the loop's time.
  var boundNs: UInt64

  var wording: Wording { Wording(variant: variant, badge: badge) }
}
