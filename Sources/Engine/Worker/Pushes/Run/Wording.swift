/// The variant and badge of a push. Pushes of one job that have both in common may leave in one request.
struct Wording: Equatable {
  /// `Push.variant`.
  var variant: UInt8 = 0
  /// `Push.badge`.
  var badge: Int32 = 0
}
