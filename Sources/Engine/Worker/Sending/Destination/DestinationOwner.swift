internal import HTTP2
internal import Providers

/// The calls by which a destination, the target, asks things of its lane. The protocol does not name `Destination`, so
/// that the two do not need each other.
protocol DestinationOwner<Target>: AnyObject {
  associatedtype Target: AnyObject
  /// The next push may be sent: submit it, or decide it otherwise.
  func submit(
    _ tag: UInt64, to destination: Target, with credential: Credential,
    in taker: any RequestTaker
  ) -> Submission
  /// Submits pushes of one job that leave in one request, or decides them otherwise.
  func submit(
    batch tags: [UInt64], to destination: Target, with credential: Credential,
    in taker: any RequestTaker
  ) -> BatchSubmission
  /// Whether more pushes of a job may come to this lane.
  func isAwaited(_ material: JobMaterial) -> Bool
  /// A push that was submitted was answered, or will not be.
  func receive(_ answer: RequestAnswer, to tag: UInt64, from destination: Target)
  /// The destination cannot be sent to for so long: what waits for it is to be put aside.
  func putAside(_ tags: [UInt64], of destination: Target, forMs delayMs: UInt64)
  /// A push waits in it, and none did before.
  func destinationHasWaiting(_ destination: Target)
  func destinationRanLow(_ destination: Target)
  /// How many pushes of this rank and higher ones wait on the lane for networks that nothing connects to or that answer
  /// nothing.
  func queuedSilent(upTo rank: Int) -> Int
}
